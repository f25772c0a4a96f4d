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
  const decimal = DECIMAL.test(source) ? parseNumber(source.replace(/^\+/, "").replace(/\.$/, "")) : undefined;
  if (decimal !== undefined) return numberValue(decimal);
  if (!RADIX.test(source)) return stringValue(source);
  const magnitude = BigInt(source.replace(/^[-+]/, ""));
  return numberValue(numberFromInteger(source.startsWith("-") ? -magnitude : magnitude));
}

function decode(args: readonly Value[]): Value {
  const documents = parseAllDocuments(textAt(args, 0), {
    schema: "failsafe",
    merge: true,
    uniqueKeys: false,
    logLevel: "silent",
  });
  const [document] = Array.isArray(documents) ? documents : [];
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
  const source = String(node.value ?? "");
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
  return isWhollyKnown(value) ? stringValue(`${emit(value, 0, 0)}\n`) : unknownValue(STRING);
}

/** Text of a value: what stands behind `key:` or `-`; nested blocks begin with a line break and have one indent more. */
function emit(value: Value, depth: number, indent: number): string {
  if (value.kind === "number")
    return isInfinite(value.value) ? (value.value.mantissa > 0n ? "+Inf" : "-Inf") : formatNumber(value.value);
  if (value.kind === "bool") return String(value.value);
  if (value.kind === "string") return emitString(value.value, depth, indent);
  if ("items" in value) return value.items.length === 0 ? "[]" : emitSequence(value.items, depth, indent);
  if ("entries" in value) return value.entries.size === 0 ? "{}" : emitMapping(value.entries, depth, indent);
  return "null";
}

function emitSequence(items: readonly Value[], depth: number, indent: number): string {
  const margin = " ".repeat(indent);
  return items
    .map((item, index) => {
      const text = isBlock(item) ? emit(item, depth + 1, indent + 2) : emit(item, depth + 1, indent);
      return `${index === 0 ? "" : margin}- ${text}`;
    })
    .join("\n");
}

function emitMapping(entries: ReadonlyMap<string, Value>, depth: number, indent: number): string {
  const margin = " ".repeat(indent);
  return [...entries]
    .map(([name, item], index) => {
      const isMapping = "entries" in item && item.entries.size > 0;
      // Sequences stay at the column of their key.
      const inner = isMapping ? indent + 2 : indent;
      const text = emit(item, depth + 1, inner);
      const separator = isBlock(item) ? `\n${" ".repeat(inner)}` : " ";
      return `${index === 0 ? "" : margin}${quote(name)}:${separator}${text}`;
    })
    .join("\n");
}

function isBlock(value: Value): boolean {
  return ("items" in value && value.items.length > 0) || ("entries" in value && value.entries.size > 0);
}

const UNPRINTABLE = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

/** Texts of several lines stand as a block, all others in quotes. */
function emitString(text: string, depth: number, indent: number): string {
  if (!text.includes("\n") || UNPRINTABLE.test(text) || / (?:\n|$)/.test(text)) return quote(text);
  const inner = " ".repeat(depth === 0 ? 2 : indent + 2);
  const hint = /^[ \n]/.test(text) ? "2" : "";
  const ending = !text.endsWith("\n") ? "-" : text.endsWith("\n\n") || text === "\n" ? "+" : "";
  const body = text.replace(/\n$/, "").replace(/^(?=[^\n])/gm, inner);
  return `|${hint}${ending}\n${body}`;
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
