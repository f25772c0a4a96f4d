import { countCharacters } from "./line-map.ts";

/** A token of JSON, as HCL's reader of JSON cuts it. */
export interface JsonToken {
  readonly kind: "{" | "}" | "[" | "]" | "," | ":" | "=" | "string" | "number" | "keyword" | "invalid" | "end";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const PATTERN =
  /([{}[\],:=])|("(?:[^"\\\u0000-\u001f]|\\(?:[^\u0000-\u001f]|(?=[\u0000-\u001f])|$))*"?)|([-+.0-9][-+.0-9eE]*)|([A-Za-z][A-Za-z_]*)|([\s\S])/uy;
const SPACE = /[ \t\r\n]*/y;

/** Cuts a text into tokens of JSON; the last one is `end`, which also follows what can be no token. Never throws. */
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
    if (mark === undefined && kind === "invalid") break;
  }
  tokens.push({ kind: "end", text: "", start: at, end: at });
  return tokens;
}

/** How many columns HCL counts for a piece of a line of JSON: a tab is two, and a carriage return none. */
export function jsonColumns(text: string): number {
  const tabs = text.split("\t").length - 1;
  return countCharacters(text.replaceAll("\r", "")) + tabs;
}

/** How many bytes of a string token are read when what makes it no JSON string shows; undefined when it is one. */
export function badStringAt(token: string): number | undefined {
  const bytes = (end: number) => Buffer.byteLength(token.slice(0, end));
  for (let at = 1; at < token.length; at++) {
    const character = token[at] ?? "";
    if (character === '"') return at === token.length - 1 ? undefined : bytes(at + 2);
    if (character !== "\\") continue;
    at++;
    if (at >= token.length) break;
    if (!'"\\/bfnrtu'.includes(token[at] ?? "")) return bytes(at + 1);
    if (token[at] !== "u") continue;
    for (let digit = 0; digit < 4; digit++) {
      at++;
      if (at >= token.length) return bytes(token.length);
      if (!/[0-9a-fA-F]/.test(token[at] ?? "")) return bytes(at + 1);
    }
  }
  return bytes(token.length);
}

function isMark(text: string | undefined): text is "{" | "}" | "[" | "]" | "," | ":" | "=" {
  return text !== undefined;
}
