/** A token of JSON, as HCL's reader of JSON cuts it. */
export interface JsonToken {
  readonly kind: "{" | "}" | "[" | "]" | "," | ":" | "=" | "string" | "number" | "keyword" | "invalid" | "end";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const PATTERN =
  /([{}[\],:=])|("(?:[^"\\\n]|\\[^\n])*"?)|(-?[0-9][0-9.eE+-]*|-[0-9.eE+-]*)|([\p{ID_Start}_][\p{ID_Continue}_]*)|([\s\S])/uy;
const SPACE = /[ \t\r\n]*/y;

/** Cuts a text into tokens of JSON; the last one is `end`. Never throws. */
export function tokenizeJson(text: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    PATTERN.lastIndex = at;
    const match = PATTERN.exec(text);
    if (match === null) break;
    const [found, mark, string, number, keyword] = match;
    const end = at + found.length;
    const kind =
      string !== undefined ? "string" : number !== undefined ? "number" : keyword !== undefined ? "keyword" : "invalid";
    tokens.push({ kind: isMark(mark) ? mark : kind, text: found, start: at, end });
    at = end;
  }
  tokens.push({ kind: "end", text: "", start: text.length, end: text.length });
  return tokens;
}

function isMark(text: string | undefined): text is "{" | "}" | "[" | "]" | "," | ":" | "=" {
  return text !== undefined;
}
