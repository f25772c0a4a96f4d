import type { Alias, Document, Node } from "yaml";
import { isAlias, isMap, isPair, isScalar, isSeq, parseAllDocuments, Scalar } from "yaml";
import { formatNumber, isInfinite, numberFromDouble, numberFromInteger, parseNumber } from "../number.ts";
import { FunctionError, parameter } from "../scope.ts";
import {
  boolValue,
  isWhollyKnown,
  nullValue,
  numberValue,
  objectValue,
  STRING,
  stringValue,
  tupleValue,
  unknownValue,
  type Value,
} from "../value.ts";
import { at, define, type FunctionTable, str, textAt } from "./define.ts";

const MAX_DEPTH = 200;
const TRUE = /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const FALSE = /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const NULL = /^(?:~|null|Null|NULL|)$/;
const INFINITE = /^([-+]?)\.(?:inf|Inf|INF)$/;
const DECIMAL = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const RADIX = /^[-+]?0(?:x[0-9a-fA-F]+|o[0-7]+|b[01]+)$/;

/** What a bare word of YAML 1.1 stands for. */
function resolvePlain(source: string): Value {
  if (TRUE.test(source)) return boolValue(true);
  if (FALSE.test(source)) return boolValue(false);
  if (NULL.test(source)) return nullValue();
  const infinite = INFINITE.exec(source);
  if (infinite !== null)
    return numberValue(numberFromDouble(infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY));
  if (/^\.(?:nan|NaN|NAN)$/.test(source)) throw new FunctionError("floating point NaN is not supported");
  const timestamp = resolveTimestamp(source);
  if (timestamp !== undefined) return stringValue(timestamp);
  const decimal = DECIMAL.test(source) ? parseNumber(source.replace(/^\+/, "").replace(/\.$/, "")) : undefined;
  if (decimal !== undefined) return numberValue(decimal);
  if (!RADIX.test(source)) return stringValue(source);
  const magnitude = BigInt(source.replace(/^[-+]/, ""));
  return numberValue(numberFromInteger(source.startsWith("-") ? -magnitude : magnitude));
}

const TIMESTAMP = /^(\d{4})-(\d\d?)-(\d\d?)(?:([Tt]| )(\d\d?):(\d\d?):(\d\d?)(?:\.\d+)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Dates and times become strings of RFC 3339 in whole seconds. */
function resolveTimestamp(source: string): string | undefined {
  const match = TIMESTAMP.exec(source);
  if (match === null) return undefined;
  const [, year = "", month = "", day = "", separator, hour = "0", minute = "0", second = "0", zone] = match;
  // With a space there is no zone, with a T there must be one.
  if (separator !== undefined && (separator === " ") !== (zone === undefined)) return undefined;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const exists = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!exists || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const two = (text: string) => text.padStart(2, "0");
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${zone ?? "Z"}`;
}

function decode(args: readonly Value[]): Value {
  const documents = parseAllDocuments(textAt(args, 0), {
    schema: "failsafe",
    merge: true,
    uniqueKeys: false,
    logLevel: "silent",
  });
  const [document, second] = Array.isArray(documents) ? documents : [];
  if (second !== undefined) throw new FunctionError("unexpected extra content after value");
  if (document === undefined || document.contents === null)
    throw new FunctionError("on line 1, column 1: missing start of document");
  const [error] = document.errors;
  if (error !== undefined) {
    const place = error.linePos?.[0];
    throw new FunctionError(
      `on line ${place?.line ?? 1}, column ${place?.col ?? 1}: ${error.message.split("\n")[0] ?? ""}`.replace(/ at line .*$/, ""),
    );
  }
  return readNode(document, document.contents, 0);
}

function readNode(document: Document.Parsed, node: unknown, depth: number): Value {
  if (depth > MAX_DEPTH) throw new FunctionError("the document is nested too deep");
  if (isAlias(node)) return readNode(document, resolveAlias(document, node), depth + 1);
  if (isSeq(node)) return tupleValue(node.items.map((item) => readNode(document, item, depth + 1)));
  if (isMap(node)) {
    const entries = new Map<string, Value>();
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const key = readKey(document, pair.key, depth);
      const value = readNode(document, pair.value, depth + 1);
      if (key === "<<" && "entries" in value)
        for (const [name, item] of value.entries) entries.set(name, entries.get(name) ?? item);
      else entries.set(key, value);
    }
    return objectValue(entries);
  }
  if (!isScalar(node)) return nullValue();
  const source = typeof node.value === "string" ? node.value : (node.source ?? "");
  if (node.tag === "tag:yaml.org,2002:str" || node.tag === "!") return stringValue(source);
  return node.type === Scalar.PLAIN ? resolvePlain(source) : stringValue(source);
}

function resolveAlias(document: Document.Parsed, alias: Alias): Node {
  const target = alias.resolve(document);
  if (target === undefined) throw new FunctionError(`there is no anchor named ${JSON.stringify(alias.source)}`);
  return target;
}

function readKey(document: Document.Parsed, node: unknown, depth: number): string {
  const key = readNode(document, node, depth + 1);
  if (key.kind === "string") return key.value;
  if (key.kind === "number") return formatNumber(key.value);
  if (key.kind === "bool") return String(key.value);
  throw new FunctionError("only strings, numbers and booleans can be keys");
}

function encode(args: readonly Value[]): Value {
  const value = at(args, 0);
  if (!isWhollyKnown(value)) return unknownValue(STRING);
  const text = emit(value, { indent: 0, textIndent: 2, column: 0 });
  // A bare word alone could go on behind the end of the text: the document is closed.
  const isBare = value.kind === "number" || value.kind === "bool" || value.kind === "null";
  return stringValue(isBare ? `${text}\n...\n` : `${text}\n`);
}

/** Where a value stands. */
interface Place {
  /** Column at which the lines of a nested block begin. */
  readonly indent: number;
  /** Column at which the further lines of a text begin. */
  readonly textIndent: number;
  /** Column behind what is already on the line. */
  readonly column: number;
}

/** Text of a value: what stands behind `key:` or `-`. */
function emit(value: Value, place: Place): string {
  if (value.kind === "number")
    return isInfinite(value.value) ? (value.value.mantissa > 0n ? "+Inf" : "-Inf") : formatNumber(value.value);
  if (value.kind === "bool") return String(value.value);
  if (value.kind === "string") return emitString(value.value, place);
  if ("items" in value) return value.items.length === 0 ? "[]" : emitSequence(value.items, place.indent);
  if ("entries" in value) return value.entries.size === 0 ? "{}" : emitMapping(value.entries, place.indent);
  return "null";
}

function emitSequence(items: readonly Value[], indent: number): string {
  const margin = " ".repeat(indent);
  const place = { indent: indent + 2, textIndent: indent + 2, column: indent + 2 };
  return items.map((item, index) => `${index === 0 ? "" : margin}- ${emit(item, place)}`).join("\n");
}

function emitMapping(entries: ReadonlyMap<string, Value>, indent: number): string {
  const margin = " ".repeat(indent);
  return [...entries]
    .map(([name, item], index) => {
      const key = `${index === 0 ? "" : margin}${quote(name)}:`;
      if (!isBlock(item))
        return `${key} ${emit(item, { indent, textIndent: indent + 2, column: indent + [...quote(name)].length + 2 })}`;
      // Sequences stay at the column of their key.
      const inner = "entries" in item ? indent + 2 : indent;
      return `${key}\n${" ".repeat(inner)}${emit(item, { indent: inner, textIndent: inner + 2, column: inner })}`;
    })
    .join("\n");
}

function isBlock(value: Value): boolean {
  return ("items" in value && value.items.length > 0) || ("entries" in value && value.entries.size > 0);
}

const UNPRINTABLE = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

/** Texts of several lines stand as a block, all others in quotes. */
function emitString(text: string, place: Place): string {
  if (!text.includes("\n") || UNPRINTABLE.test(text) || / (?:\n|$)/.test(text)) return fold(quote(text), place);
  const inner = " ".repeat(place.textIndent);
  const hint = /^[ \n]/.test(text) ? "2" : "";
  const ending = !text.endsWith("\n") ? "-" : text.endsWith("\n\n") || text === "\n" ? "+" : "";
  const body = text.replace(/\n$/, "").replace(/^(?=[^\n])/gm, inner);
  return `|${hint}${ending}\n${body}`;
}

const WIDTH = 80;

/** Breaks a quoted text at the first space behind the width; a space at the start of a line is escaped. */
function fold(quoted: string, place: Place): string {
  const characters = [...quoted];
  let result = "";
  let { column } = place;
  characters.forEach((character, index) => {
    const inside = index > 1 && index < characters.length - 2;
    const breaks = character === " " && characters[index - 1] !== " " && column > WIDTH && inside;
    const written = breaks ? `\n${" ".repeat(place.textIndent)}${characters[index + 1] === " " ? "\\" : ""}` : character;
    column = breaks ? written.length - 1 : column + 1;
    result += written;
  });
  return result;
}

const NAMED: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\u0085": "\\N",
  "\ufeff": "\\uFEFF",
};

function quote(text: string): string {
  return `"${text.replace(/["\\\x00-\x1f\x7f-\x9f\ufeff]/g, (character) => {
    return NAMED[character] ?? `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  })}"`;
}

export const yamlFunctions: FunctionTable = {
  yamldecode: define([str("src")], decode),
  yamlencode: define([parameter("value", undefined, { allowNull: true })], encode),
};
