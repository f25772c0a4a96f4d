/** Alternatives of braces beyond this number are left out. */
const MAX_ALTERNATIVES = 64;

/** One step within a part of a path. A part that is no valid pattern has a step that matches nothing. */
type Step = "star" | ((char: string) => boolean);

/** `**` as a whole part, or the steps of one. */
type Part = "folders" | readonly Step[];

/**
 * Compiles a pattern of `fileset()`: `*` and `?` stay within a folder, `**` as a whole part spans folders, `[a-z]` and `{a,b}` as in a
 * shell. Matching takes time proportional to pattern × path at most, whatever both are.
 */
export function createFileGlob(pattern: string): (path: string) => boolean {
  const alternatives = expandBraces(pattern).map((alternative) => alternative.split("/").map(compilePart));
  return (path) => {
    const names = path.split("/").map((name) => [...name]);
    return alternatives.some((parts) => matchParts(parts, names));
  };
}

function expandBraces(pattern: string): readonly string[] {
  let patterns: readonly string[] = [pattern];
  for (;;) {
    let found = false;
    const next = patterns.flatMap((each) => {
      const match = /\{([^{}]*)\}/.exec(each);
      if (match === null) return [each];
      found = true;
      const before = each.slice(0, match.index);
      const after = each.slice(match.index + match[0].length);
      return (match[1] ?? "").split(",").map((choice) => before + choice + after);
    });
    if (!found) return patterns;
    patterns = next.slice(0, MAX_ALTERNATIVES);
  }
}

/** Row by row over the pattern: which prefixes of the path are matched so far. */
function matchParts(parts: readonly Part[], names: readonly (readonly string[])[]): boolean {
  let reached: readonly boolean[] = [true, ...names.map(() => false)];
  for (const part of parts) {
    if (part === "folders") {
      let open = false;
      reached = reached.map((before) => {
        open ||= before;
        return open;
      });
    } else {
      reached = [false, ...names.map((name, index) => reached[index] === true && matchName(part, name))];
    }
  }
  return reached.at(-1) === true;
}

/** Only the last star can still have to take more: what the ones before it took is as good as any other choice. */
function matchName(steps: readonly Step[], name: readonly string[]): boolean {
  let step = 0;
  let at = 0;
  let afterStar = -1;
  let starEnd = 0;
  while (at < name.length) {
    const current = steps[step];
    if (current === "star") {
      step += 1;
      afterStar = step;
      starEnd = at;
    } else if (current?.(name[at] ?? "") === true) {
      step += 1;
      at += 1;
    } else if (afterStar >= 0) {
      starEnd += 1;
      at = starEnd;
      step = afterStar;
    } else return false;
  }
  return steps.slice(step).every((left) => left === "star");
}

function compilePart(part: string): Part {
  if (part === "**") return "folders";
  const tokens = part.match(/\*+|\[[!^]?[^\]]+\]|./gsu) ?? [];
  return tokens.map((token): Step => {
    if (token.startsWith("*")) return "star";
    if (token === "?") return () => true;
    if (token.length > 2 && token.startsWith("[")) return charSet(token.slice(1, -1));
    return (char) => char === token;
  });
}

/** `a-z`, `!a-z`; a minus at either end stands for itself. */
function charSet(text: string): (char: string) => boolean {
  const negated = /^[!^]./su.test(text);
  const chars = [...(negated ? text.slice(1) : text)];
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const from = chars[at] ?? "";
    const isRange = chars[at + 1] === "-" && at + 2 < chars.length;
    ranges.push([from, (isRange ? chars[at + 2] : from) ?? from]);
    if (isRange) at += 2;
  }
  const code = (char: string): number => char.codePointAt(0) ?? -1;
  return (char) => ranges.some(([from, to]) => code(from) <= code(char) && code(char) <= code(to)) !== negated;
}
