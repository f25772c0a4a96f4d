const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };
const QUOTED = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S])|$)|\$\$\{|%%\{/g;
const UNQUOTED = /\$\$\{|%%\{/g;

/**
 * The characters that a stretch of literal template text stands for. Quoted text has backslash escapes, a heredoc has
 * not; `$${` and `%%{` stand for `${` and `%{` in both. Wrong escapes stay as written: they were reported before.
 */
export function literalText(raw: string, form: "quoted" | "heredoc"): string {
  if (form === "heredoc") return raw.replace(UNQUOTED, (sequence) => sequence.slice(1));
  return raw.replace(QUOTED, (match: string, short?: string, long?: string, simple?: string) => {
    if (match.startsWith("$") || match.startsWith("%")) return match.slice(1);
    const code = short ?? long;
    if (code === undefined) return SIMPLE_ESCAPES[simple ?? ""] ?? match;
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? "\ufffd" : String.fromCodePoint(point);
  });
}
