import { FunctionError } from "../scope.ts";

const CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/**
 * Compiles a regular expression as Go writes it (RE2): `(?i)` at the front, `(?P<name>…)`, `[[:alpha:]]`, `\A`, `\z`,
 * `\Q…\E`. What JavaScript cannot express is refused.
 * @throws FunctionError
 */
export function compileRegex(pattern: string): RegExp {
  const leading = /^\(\?([imsU]+)\)/.exec(pattern);
  const flags = leading?.[1] ?? "";
  if (flags.includes("U")) throw new FunctionError("error parsing regexp: the flag U is not supported");
  const source = pattern
    .slice(leading?.[0].length ?? 0)
    .replace(/\\Q([\s\S]*?)(?:\\E|$)|\\[\s\S]|\[:\^?[a-z]+:\]|\(\?P<|\(\?[imsU-]+[:)]/g, translate);
  try {
    return new RegExp(source, `g${flags}u`);
  } catch {
    throw new FunctionError(`error parsing regexp: ${JSON.stringify(pattern)}`);
  }
}

function translate(match: string, literal: string | undefined): string {
  if (literal !== undefined) return literal.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  if (match === "(?P<") return "(?<";
  if (match.startsWith("[:")) {
    const negated = match[2] === "^";
    const members = CLASSES[match.slice(negated ? 3 : 2, -2)];
    if (members === undefined || negated)
      throw new FunctionError(`error parsing regexp: invalid character class range: ${match}`);
    return members;
  }
  if (match.startsWith("(?"))
    throw new FunctionError(`error parsing regexp: flags inside the pattern are not supported: ${match}`);
  return translateEscape(match);
}

function translateEscape(escape_: string): string {
  switch (escape_) {
    case "\\A":
      return "(?<![\\s\\S])";
    case "\\z":
      return "(?![\\s\\S])";
    case "\\a":
      return "\\x07";
    default:
      // Go lets every punctuation be escaped, JavaScript's unicode mode only what means something.
      return /^\\[!"#%&',:;<=>@_`~ ]$/.test(escape_) ? escape_.slice(1) : escape_;
  }
}

/** Replaces all matches; in the replacement `$1`, `${1}` and `${name}` stand for groups, `$$` for a dollar. */
export function replaceRegex(text: string, pattern: RegExp, replacement: string): string {
  return text.replace(pattern, (...groups: unknown[]) => {
    const named = groups.at(-1);
    const names = typeof named === "object" && named !== null ? new Map(Object.entries(named)) : new Map<string, unknown>();
    const group = (name: string): string => {
      const value = /^[0-9]+$/.test(name) ? positional(groups, Number(name)) : names.get(name);
      return typeof value === "string" ? value : "";
    };
    return replacement.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (whole: string, bare?: string, braced?: string) => {
      return whole === "$$" ? "$" : group(bare ?? braced ?? "");
    });
  });
}

/** Groups end where the match's offset, a number, begins. */
function positional(groups: readonly unknown[], index: number): unknown {
  const end = groups.findIndex((group) => typeof group === "number");
  return index < end ? groups[index] : undefined;
}
