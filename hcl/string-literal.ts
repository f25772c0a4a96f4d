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
  if (form === "heredoc") return raw.replace(UNQUOTED, (escape) => escape.slice(1));
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

function reportEscape(context: TreeContext, at: number, escape: string): void {
  const digits = escape === "\\u" ? 4 : 8;
  const detail =
    escape === "\\u" || escape === "\\U"
      ? `The ${escape} escape sequence must be followed by ${digits} hexadecimal digits.`
      : `The symbol "${escape.slice(1)}" is not a valid escape sequence selector.`;
  report(context, context.lines.range(at, at + escape.length), "Invalid escape sequence", detail);
}
