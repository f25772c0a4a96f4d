import { report, type TreeContext } from "./tree-context.ts";

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };
const QUOTED = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S])|$)|\$\$\{|%%\{/g;
const UNQUOTED = /\$\$\{|%%\{/g;

/**
 * The characters that a stretch of literal template text stands for. Quoted text has backslash escapes, a heredoc has
 * not; `$${` and `%%{` stand for `${` and `%{` in both. Wrong escapes are reported and kept as written.
 */
export function literalText(context: TreeContext, start: number, end: number, form: "quoted" | "heredoc"): string {
  const raw = context.text.slice(start, end);
  if (form === "heredoc") return raw.replace(UNQUOTED, (sequence) => sequence.slice(1));
  return raw.replace(QUOTED, (match: string, short: string, long: string, simple: string, at: number) => {
    if (match.startsWith("$") || match.startsWith("%")) return match.slice(1);
    const code = short ?? long;
    if (code !== undefined) {
      const point = Number.parseInt(code, 16);
      return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? "\ufffd" : String.fromCodePoint(point);
    }
    const character = SIMPLE_ESCAPES[simple];
    if (character !== undefined) return character;
    reportEscape(context, start + at, match);
    return match;
  });
}

function reportEscape(context: TreeContext, at: number, sequence: string): void {
  const digits = sequence === "\\u" ? 4 : 8;
  const detail =
    sequence === "\\u" || sequence === "\\U"
      ? `The ${sequence} escape sequence must be followed by ${digits} hexadecimal digits.`
      : `The symbol "${sequence.slice(1)}" is not a valid escape sequence selector.`;
  report(context, context.lines.range(at, at + sequence.length), "Invalid escape sequence", detail);
}
