import { formatNumber } from "./number.ts";
import type { Value } from "./value.ts";

/**
 * A string as HCL source, on one line, that reads back as exactly this text: quotes, escapes and the openings of
 * templates (`${`, `%{`) are taken care of.
 */
export function quoteString(text: string): string {
  return `"${text.replace(/["\\\u0000-\u001f\u007f\u2028\u2029\ufeff]|[$%](?=\{)/g, (character, at: number) => {
    if (character === "$" || character === "%") {
      // A run like `$${` would be read as an escape itself: there the sign is written as its code.
      return text[at - 1] === character ? unicodeEscape(character) : character + character;
    }
    if (character === '"' || character === "\\") return `\\${character}`;
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    return character === "\t" ? "\\t" : unicodeEscape(character);
  })}"`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * A value as HCL source on one line. Values that are not known have no source.
 * @throws Error for unknown values.
 */
export function renderValue(value: Value): string {
  switch (value.kind) {
    case "string":
      return quoteString(value.value);
    case "number":
      return formatNumber(value.value);
    case "bool":
      return String(value.value);
    case "null":
      return "null";
    case "unknown":
      throw new Error("a value that is not known cannot be written down");
    case "list":
    case "set":
    case "tuple":
      return `[${value.items.map(renderValue).join(", ")}]`;
    case "map":
    case "object":
      return renderEntries(value.entries);
  }
}

function renderEntries(entries: ReadonlyMap<string, Value>): string {
  if (entries.size === 0) return "{}";
  return `{ ${[...entries].map(([name, item]) => `${quoteString(name)} = ${renderValue(item)}`).join(", ")} }`;
}

/** Whether a text can be the name of an argument. */
export function isIdentifier(text: string): boolean {
  return /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u.test(text);
}
