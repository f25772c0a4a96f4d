/**
 * Whether Go would compile a regular expression, with the text of its complaint. Go has no look-around and no back-references; the
 * rest is near enough to JavaScript's that its compiler can judge it.
 */
export function regexpProblem(pattern: string): string | undefined {
  const found = scan(pattern);
  return found === undefined ? undefined : `error parsing regexp: ${found}`;
}

const quote = (text: string): string => `\`${text}\``;

function scan(pattern: string): string | undefined {
  let depth = 0;
  let previous: "none" | "atom" | "repeat" = "none";
  for (let i = 0; i < pattern.length; ) {
    const char = pattern[i] ?? "";
    if (char === "\\") {
      const problem = escapeProblem(pattern, i);
      if (problem !== undefined) return problem;
      [i, previous] = [i + 2, "atom"];
    } else if (char === "[") {
      const end = classEnd(pattern, i);
      if (end < 0) return `missing closing ]: ${quote(pattern.slice(i))}`;
      const problem = rangeProblem(pattern.slice(i, end));
      if (problem !== undefined) return problem;
      [i, previous] = [end, "atom"];
    } else if (char === "(") {
      const group = /^\(\?(?:P?<[A-Za-z_]\w*>|[imsU]*(?:-[imsU]+)?[:)])/.exec(pattern.slice(i));
      if (group === null && pattern[i + 1] === "?")
        return `invalid or unsupported Perl syntax: ${quote(perlSyntax(pattern.slice(i)))}`;
      if (group === null || !group[0].endsWith(")")) depth++;
      [i, previous] = [i + (group?.[0].length ?? 1), "none"];
    } else if (char === ")") {
      if (--depth < 0) return `unexpected ): ${quote(pattern)}`;
      [i, previous] = [i + 1, "atom"];
    } else if ("*+?".includes(char) || /^\{\d+(,\d*)?\}/.test(pattern.slice(i))) {
      const text = char === "{" ? pattern.slice(i, pattern.indexOf("}", i) + 1) : char;
      if (previous === "none") return `missing argument to repetition operator: ${quote(text)}`;
      const size = repeatSize(pattern, i, text);
      if (previous === "repeat")
        return `invalid nested repetition operator: ${quote(pattern.slice(i - repeatedBefore(pattern, i), i + size))}`;
      if (tooManyRepeats(text)) return `invalid repeat count: ${quote(text)}`;
      [i, previous] = [i + size, "repeat"];
    } else [i, previous] = [i + 1, char === "|" || char === "^" ? "none" : "atom"];
  }
  return depth > 0 ? `missing closing ): ${quote(pattern)}` : undefined;
}

function repeatSize(pattern: string, at: number, text: string): number {
  return text.length + (pattern[at + text.length] === "?" ? 1 : 0);
}

function repeatedBefore(pattern: string, at: number): number {
  return /(?:[*+?]|\{\d+(?:,\d*)?\})\??$/.exec(pattern.slice(0, at))?.[0].length ?? 1;
}

function tooManyRepeats(text: string): boolean {
  const counts = text.match(/\d+/g)?.map(Number) ?? [];
  return counts.some((n) => n > 1000) || (counts.length === 2 && (counts[0] ?? 0) > (counts[1] ?? 0));
}

const CLASS_ESCAPES = "AbBzdDsSwWpPQExafnrtvC01234567";

function escapeProblem(pattern: string, at: number): string | undefined {
  const next = pattern[at + 1];
  if (next === undefined) return "trailing backslash at end of expression: ``";
  if (!/[A-Za-z0-9]/.test(next) || CLASS_ESCAPES.includes(next)) {
    // A digit alone would be a back-reference.
    return /[1-7]/.test(next) && !/[0-7]/.test(pattern[at + 2] ?? "")
      ? `invalid escape sequence: ${quote(`\\${next}`)}`
      : undefined;
  }
  return `invalid escape sequence: ${quote(`\\${next}`)}`;
}

/** The index after the class that begins at `at`, or -1. */
function classEnd(pattern: string, at: number): number {
  let i = at + 1;
  if (pattern[i] === "^") i++;
  if (pattern[i] === "]") i++;
  while (i < pattern.length && pattern[i] !== "]") {
    const posix = /^\[:\^?[a-z]+:\]/.exec(pattern.slice(i));
    i += posix?.[0].length ?? (pattern[i] === "\\" ? 2 : 1);
  }
  return i < pattern.length ? i + 1 : -1;
}

function rangeProblem(text: string): string | undefined {
  const plain = text
    .slice(1, -1)
    .replace(/^\^/, "")
    .replace(/\\./g, "__")
    .replace(/\[:\^?[a-z]+:\]/g, "");
  for (const [range, from = "", to = ""] of plain.matchAll(/([^_])-([^_\]])/gu)) {
    if (from > to) return `invalid character class range: ${quote(range)}`;
  }
  return undefined;
}

function perlSyntax(rest: string): string {
  return /^\(\?(?:<[=!]|[=!>#]|.)/.exec(rest)?.[0] ?? "(?";
}
