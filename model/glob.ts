import { InvalidRequestError } from "./errors.ts";

/** Longest pattern, in UTF-16 units: matching costs pattern × text, so both must be bounded. */
const maxPatternLength = 512;
/** Most alternatives that the braces of one pattern may multiply to. */
const maxAlternatives = 64;

/** One step of a compiled pattern. A string is one literal character. */
type Step =
  | { readonly kind: "char"; readonly char: string }
  /** `?`: one character but the slash. */
  | { readonly kind: "one" }
  /** `*`: any characters but the slash, none included. */
  | { readonly kind: "star" }
  /** `**` as the last segment: anything. */
  | { readonly kind: "rest" }
  /** `**` before a slash: no folder or several. Enters `folders`, or skips both steps. */
  | { readonly kind: "enter" }
  | { readonly kind: "folders" };

interface Alternative {
  readonly steps: readonly Step[];
  /** Literal end of the pattern: most texts are told apart by it without running the steps. */
  readonly suffix: string;
}

/**
 * Compiles a glob over slash-separated paths: `*` and `?` stay within a segment, `**` as a whole segment stands for
 * any number of folders, `{a,b}` for one of the alternatives (may be nested or empty), `\` takes the next character literally.
 * The whole text must match; names that begin with a dot are not special. A `**` that is only part of a segment is a `*`.
 *
 * Matching takes time proportional to pattern × text whatever the pattern is: there is no backtracking (libraries §1, user globs).
 *
 * @throws InvalidRequestError `invalid_pattern` for an empty or overlong pattern, open braces, or more than 64 alternatives.
 */
export function createGlob(pattern: string): (text: string) => boolean {
  if (pattern === "") throw invalid(pattern, "it is empty");
  if (pattern.length > maxPatternLength) throw invalid(pattern, `it is longer than ${maxPatternLength} characters`);
  const alternatives = expandBraces(pattern).map(compile);
  return (text) => alternatives.some((alternative) => matches(alternative, text));
}

function invalid(pattern: string, why: string): InvalidRequestError {
  const shown = pattern.length > 60 ? `${pattern.slice(0, 60)}…` : pattern;
  return new InvalidRequestError(`the pattern ${JSON.stringify(shown)} cannot be used: ${why}`, {
    code: "invalid_pattern",
    hint: "patterns know *, **, ?, {a,b} and \\ before a character that is meant literally",
  });
}

/** Replaces the braces by one pattern for each alternative, in the order of writing. */
function expandBraces(pattern: string): readonly string[] {
  let open: readonly string[] = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const text of open) {
      const braces = firstBraces(text, pattern);
      if (braces === undefined) done.push(text);
      else for (const part of braces.parts) next.push(text.slice(0, braces.start) + part + text.slice(braces.end));
    }
    if (done.length + next.length > maxAlternatives)
      throw invalid(pattern, `its braces stand for more than ${maxAlternatives} alternatives`);
    open = next;
  }
  return done;
}

function firstBraces(
  text: string,
  pattern: string,
): { readonly start: number; readonly end: number; readonly parts: readonly string[] } | undefined {
  let start = -1;
  let depth = 0;
  let partStart = 0;
  const parts: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === "{") {
      if (depth++ === 0) {
        start = at;
        partStart = at + 1;
      }
    } else if (depth > 0 && char === "," && depth === 1) {
      parts.push(text.slice(partStart, at));
      partStart = at + 1;
    } else if (depth > 0 && char === "}" && --depth === 0) {
      parts.push(text.slice(partStart, at));
      return { start, end: at + 1, parts };
    }
  }
  if (start >= 0) throw invalid(pattern, "a { is never closed");
  return undefined;
}

function compile(pattern: string): Alternative {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (char === "\\" && at + 1 < pattern.length) steps.push({ kind: "char", char: pattern.charAt(++at) });
    else if (char === "?") steps.push({ kind: "one" });
    else if (char === "*") {
      const from = at;
      while (pattern[at + 1] === "*") at++;
      const wholeSegment = at > from && (from === 0 || pattern[from - 1] === "/");
      if (wholeSegment && at + 1 === pattern.length) steps.push({ kind: "rest" });
      else if (wholeSegment && pattern[at + 1] === "/") {
        steps.push({ kind: "enter" }, { kind: "folders" });
        at++;
      } else steps.push({ kind: "star" });
    } else steps.push({ kind: "char", char });
  }
  let literalFrom = steps.length;
  while (steps[literalFrom - 1]?.kind === "char") literalFrom--;
  const suffix = steps.slice(literalFrom).map((step) => (step.kind === "char" ? step.char : ""));
  return { steps, suffix: suffix.join("") };
}

/** Runs all states of the pattern side by side over the text. */
function matches({ steps, suffix }: Alternative, text: string): boolean {
  if (!text.endsWith(suffix)) return false;
  let states = new Uint8Array(steps.length + 1);
  let next = new Uint8Array(steps.length + 1);
  activate(steps, states, 0);
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    let alive = false;
    for (let state = 0; state < steps.length; state++) {
      const step = steps[state];
      if (states[state] !== 1 || step === undefined) continue;
      const stays = step.kind === "rest" || step.kind === "folders" || (step.kind === "star" && char !== "/");
      const moves =
        (step.kind === "char" && step.char === char) ||
        (step.kind === "one" && char !== "/") ||
        (step.kind === "folders" && char === "/");
      if (stays) next[state] = 1;
      if (stays && step.kind !== "folders") activate(steps, next, state);
      if (moves) activate(steps, next, state + 1);
      alive ||= stays || moves;
    }
    if (!alive) return false;
    [states, next] = [next, states];
    next.fill(0);
  }
  return states[steps.length] === 1;
}

/** Marks a state and all that are reached from it without reading a character. */
function activate(steps: readonly Step[], states: Uint8Array, from: number): void {
  for (let state = from; ; state++) {
    states[state] = 1;
    const kind = steps[state]?.kind;
    if (kind === "enter") {
      states[state + 1] = 1;
      state++;
    } else if (kind !== "star" && kind !== "rest") return;
  }
}
