import { ConversionError } from "./convert.ts";
import { formatNumber, isInfinite, parseNumber } from "./number.ts";
import { boolValue, nullValue, numberValue, objectValue, stringValue, tupleValue, type Value } from "./value.ts";

/**
 * A known value as JSON text in Go's manner: no spaces, numbers in full, `<`, `>`, `&` and the two line separators
 * of Unicode escaped.
 * @throws ConversionError for infinities, which JSON has not
 */
export function jsonText(value: Value): string {
  switch (value.kind) {
    case "string":
      return jsonString(value.value);
    case "number":
      if (isInfinite(value.value)) throw new ConversionError("cannot serialize infinity as JSON");
      return formatNumber(value.value);
    case "bool":
      return String(value.value);
    case "null":
    case "unknown":
      return "null";
    case "list":
    case "set":
    case "tuple":
      return `[${value.items.map(jsonText).join(",")}]`;
    case "map":
    case "object":
      return `{${[...value.entries].map(([name, item]) => `${jsonString(name)}:${jsonText(item)}`).join(",")}}`;
  }
}

function jsonString(text: string): string {
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

const TOKEN =
  /\s*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(true|false|null))/y;
const MAX_DEPTH = 500;

/**
 * Reads JSON text as a value. Numbers keep all their digits, which JSON.parse would round.
 * @throws SyntaxError
 */
export function parseJsonValue(text: string): Value {
  // Whether the text is JSON at all is JSON.parse's word; the tokens are then certain.
  JSON.parse(text);
  const pattern = new RegExp(TOKEN);
  const next = (): RegExpExecArray => {
    const match = pattern.exec(text);
    if (match === null) throw new SyntaxError("not a JSON document");
    return match;
  };
  return readJson(next(), next, 0);
}

function readJson(token: RegExpExecArray, next: () => RegExpExecArray, depth: number): Value {
  if (depth > MAX_DEPTH) throw new SyntaxError("nested too deep");
  const [, mark, string, number, word] = token;
  if (string !== undefined) return stringValue(String(JSON.parse(string)));
  if (number !== undefined) {
    const parsed = parseNumber(number);
    if (parsed === undefined) throw new SyntaxError(`cannot read the number ${number}`);
    return numberValue(parsed);
  }
  if (word !== undefined) return word === "null" ? nullValue() : boolValue(word === "true");
  if (mark === "[") {
    const items: Value[] = [];
    for (let current = next(); current[1] !== "]"; current = next()) {
      if (current[1] !== ",") items.push(readJson(current, next, depth + 1));
    }
    return tupleValue(items);
  }
  const entries: [string, Value][] = [];
  for (let current = next(); current[1] !== "}"; current = next()) {
    const name = current[2];
    if (name === undefined) continue;
    next();
    entries.push([String(JSON.parse(name)), readJson(next(), next, depth + 1)]);
  }
  return objectValue(entries);
}
