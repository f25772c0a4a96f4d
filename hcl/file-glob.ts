/**
 * Whether a path matches a pattern of `fileset()`: `*` and `?` stay within a folder, `**` as a whole part spans folders,
 * `[a-z]` and `{a,b}` as in a shell. Linear in the length of the path for every part of the pattern.
 */
export function matchesGlob(pattern: string, path: string): boolean {
  return expandBraces(pattern).some((alternative) => matchParts(alternative.split("/"), path.split("/")));
}

const MAX_ALTERNATIVES = 64;

function expandBraces(pattern: string): string[] {
  const match = /\{([^{}]*)\}/.exec(pattern);
  if (match === null) return [pattern];
  const before = pattern.slice(0, match.index);
  const after = pattern.slice(match.index + match[0].length);
  const choices = (match[1] ?? "").split(",");
  return choices.flatMap((choice) => expandBraces(before + choice + after)).slice(0, MAX_ALTERNATIVES);
}

function matchParts(pattern: readonly string[], path: readonly string[]): boolean {
  // Row by row over the pattern: which prefixes of the path are matched so far.
  let reached: boolean[] = path.map(() => false);
  let start = true;
  for (const part of pattern) {
    const previous: readonly boolean[] = [start, ...reached];
    if (part === "**") {
      let open = false;
      const spanned: boolean[] = previous.map((before) => {
        open ||= before;
        return open;
      });
      start = spanned[0] ?? false;
      reached = spanned.slice(1);
    } else {
      const expression = partExpression(part);
      reached = path.map((name, index) => previous[index] === true && expression.test(name));
      start = false;
    }
  }
  return reached.at(-1) ?? start;
}

function partExpression(part: string): RegExp {
  const source = part.replace(
    /\*+|\?|\[(!|\^)?([^\]]+)\]|[\\^$.|+(){}[\]]/g,
    (match, negated: string | undefined, set: string | undefined) => {
      if (match.startsWith("*")) return ".*";
      if (match === "?") return ".";
      if (set !== undefined) return `[${negated === undefined ? "" : "^"}${set.replace(/[\\\]^]/g, "\\$&")}]`;
      return `\\${match}`;
    },
  );
  try {
    return new RegExp(`^${source}$`, "su");
  } catch {
    return /^\b$/;
  }
}
