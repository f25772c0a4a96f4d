import { badStringAt, type JsonToken, jsonColumns, tokenizeJson } from "./json-tokens.ts";
import { BEGINNING, LineMap } from "./line-map.ts";
import type { HclParser } from "./parser.ts";
import { suggestName } from "./suggest.ts";
import type { Attribute, Body, Diagnostic, Expression, ObjectExpression, ObjectItem, SourceRange } from "./syntax.ts";
import { MAX_DEPTH } from "./tree-context.ts";

/** Nomad's own test for HCL in JSON: the first character that is no space is a brace. */
export function looksLikeJson(text: string): boolean {
  return /^ *\{/.test(text);
}

/** A JSON text read as HCL. */
export interface ParsedJson {
  /** All properties as attributes: which of them are blocks only a schema can say. */
  readonly body: Body;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads HCL in JSON, with HCL's words for what is wrong. Never throws.
 * Strings are templates: with a `parser` what stands in `${…}` is read, without one it stays text.
 */
export function parseJsonBody(text: string, filename: string, parser?: HclParser): ParsedJson {
  const reader = new JsonReader(text, filename, parser);
  const root = reader.file();
  const attributes = root === undefined ? [] : attributesOf(root);
  const range = root?.range ?? reader.lines.range(0, 0);
  return { body: { attributes, blocks: [], range, endRange: { ...range, start: range.end } }, diagnostics: reader.diagnostics };
}

function attributesOf(root: ObjectExpression): Attribute[] {
  return root.items.map(({ keyName, key, value }) => ({
    name: keyName ?? "",
    nameRange: key.range,
    expression: value,
    range: { ...key.range, end: value.range.end },
  }));
}

const STARTS = "A JSON value must start with a brace, a bracket, a number, a string, or a keyword.";

class JsonReader {
  readonly lines: LineMap;
  readonly diagnostics: Diagnostic[] = [];
  readonly #filename: string;
  readonly #parser: HclParser | undefined;
  readonly #tokens: readonly JsonToken[];
  #at = 0;

  constructor(text: string, filename: string, parser: HclParser | undefined) {
    this.#filename = filename;
    this.#parser = parser;
    this.lines = new LineMap(text, filename, BEGINNING, 0, jsonColumns);
    this.#tokens = tokenizeJson(text);
  }

  /** The root, which must be an object, or an array of objects whose properties count as one. */
  file(): ObjectExpression | undefined {
    const root = this.#value(0);
    if (this.diagnostics.length === 0 && this.#peek().kind !== "end") {
      this.#fail(this.#peek(), "Extraneous data after value", "Extra characters appear after the JSON value.");
    }
    if (root.kind === "object") return root;
    if (root.kind === "tuple") {
      const items = root.items.flatMap((item) => (item.kind === "object" ? item.items : []));
      return { kind: "object", items, openRange: root.openRange, range: root.range };
    }
    const detail = "The root value in a JSON-based configuration must be either a JSON object or a JSON array of objects.";
    this.diagnostics.push({ severity: "error", summary: "Root value must be object", detail, range: root.range });
    return undefined;
  }

  #peek(): JsonToken {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { kind: "end", text: "", start: 0, end: 0 };
  }

  #read(): JsonToken {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #range(from: JsonToken, to: JsonToken = from): SourceRange {
    return this.lines.range(from.start, to.end);
  }

  #fail(token: JsonToken, summary: string, detail: string): Expression {
    const range = this.#range(token);
    this.diagnostics.push({ severity: "error", summary, detail, range });
    return { kind: "invalid", range };
  }

  #value(depth: number): Expression {
    const token = this.#peek();
    if (depth > MAX_DEPTH) {
      this.#at = this.#tokens.length;
      return this.#fail(token, "Nesting too deep", `Values are nested more than ${MAX_DEPTH} deep.`);
    }
    switch (token.kind) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case "number":
        return this.#number(this.#read());
      case "string":
        return this.#string(this.#read());
      case "keyword":
        return this.#keyword(this.#read());
      case "}":
        return this.#fail(token, "Missing JSON value", STARTS);
      case "]":
        return this.#fail(token, "Missing array element value", STARTS);
      case "end":
        return this.#fail(token, "Missing value", "The JSON data ends prematurely.");
      default:
        return this.#fail(token, "Invalid start of value", STARTS);
    }
  }

  #number(token: JsonToken): Expression {
    if (/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(token.text)) {
      return { kind: "literal", value: { type: "number", text: token.text }, range: this.#range(token) };
    }
    return this.#fail(token, "Invalid JSON number", "There is a syntax error in the given JSON number.");
  }

  #decode(token: JsonToken): string | undefined {
    try {
      const decoded: unknown = JSON.parse(token.text);
      return typeof decoded === "string" ? decoded : undefined;
    } catch {
      return undefined;
    }
  }

  #string(token: JsonToken): Expression {
    const decoded = this.#decode(token);
    return decoded === undefined ? this.#badString(token) : this.#template(token, decoded);
  }

  /** The place of a mistake in a string is counted in bytes, columns too. */
  #badString(token: JsonToken): Expression {
    const range = this.#range(token);
    const offset = badStringAt(token.text) ?? 0;
    const { start } = range;
    const at = { ...start, column: start.column + offset, byte: start.byte + offset };
    const wrong = { ...range, start: at, end: { ...at, column: at.column + 1, byte: at.byte + 1 } };
    const detail = "There is a syntax error in the given JSON string.";
    this.diagnostics.push({ severity: "error", summary: "Invalid JSON string", detail, range: wrong });
    return { kind: "invalid", range };
  }

  #template(token: JsonToken, decoded: string): Expression {
    const range = this.#range(token);
    const plain: Expression = { kind: "literal", value: { type: "string", value: decoded }, range };
    if (this.#parser === undefined || !/[$%]\{/.test(decoded)) return plain;
    const start = this.lines.position(token.start + 1);
    const { expression, diagnostics } = this.#parser.parseTemplate(decoded, this.#filename, start);
    this.diagnostics.push(...diagnostics);
    return { ...expression, range };
  }

  #keyword(token: JsonToken): Expression {
    const range = this.#range(token);
    if (token.text === "true" || token.text === "false") {
      return { kind: "literal", value: { type: "bool", value: token.text === "true" }, range };
    }
    if (token.text === "null") return { kind: "literal", value: { type: "null" }, range };
    const summary = "Invalid JSON keyword";
    if (["undefined", "NaN", "Infinity"].includes(token.text)) {
      return this.#fail(token, summary, `The JavaScript identifier "${token.text}" cannot be used in JSON.`);
    }
    const suggestion = suggestName(token.text, ["false", "true", "null"]);
    const hint = suggestion === undefined ? "" : ` Did you mean "${suggestion}"?`;
    return this.#fail(token, summary, `"${token.text}" is not a valid JSON keyword.${hint}`);
  }

  /** Goes on behind the bracket that closes what is open. */
  #recover(first: JsonToken, open: JsonToken["kind"], close: JsonToken["kind"]): void {
    let nested = 1;
    for (let token = first; token.kind !== "end"; token = this.#read()) {
      if (token.kind === open) nested += 1;
      else if (token.kind === close) {
        nested -= 1;
        if (nested <= 1) return;
      }
    }
  }

  #object(depth: number): Expression {
    const open = this.#read();
    const items: ObjectItem[] = [];
    while (this.#peek().kind !== "}") {
      const nameToken = this.#peek();
      const key = this.#value(depth + 1);
      const name = nameToken.kind === "string" ? this.#decode(nameToken) : undefined;
      if (name === undefined) {
        return this.#fail(nameToken, "Invalid object property name", "A JSON object property name must be a string");
      }
      const colon = this.#read();
      if (colon.kind !== ":") return this.#noColon(colon);
      const value = this.#value(depth + 1);
      const isPlain = key.kind === "literal";
      items.push({ ...(isPlain ? { keyName: name } : {}), key: isPlain ? { kind: "invalid", range: key.range } : key, value });
      const problem = this.#afterProperty(open);
      if (problem !== undefined) return problem;
    }
    const close = this.#read();
    return { kind: "object", items, openRange: this.#range(open), range: this.#range(open, close) };
  }

  #noColon(colon: JsonToken): Expression {
    this.#recover(colon, "{", "}");
    if (colon.kind === "}" || colon.kind === ",") {
      return this.#fail(colon, "Missing object value", "A JSON object attribute must have a value, introduced by a colon.");
    }
    const detail =
      colon.kind === "="
        ? "JSON uses a colon as its name/value delimiter, not an equals sign."
        : "A colon must appear between an object property's name and its value.";
    return this.#fail(colon, "Missing property value colon", detail);
  }

  #afterProperty(open: JsonToken): Expression | undefined {
    const next = this.#peek();
    switch (next.kind) {
      case ",": {
        this.#read();
        if (this.#peek().kind !== "}") return undefined;
        const detail = "JSON does not permit a trailing comma after the final property in an object.";
        return this.#fail(next, "Trailing comma in object", detail);
      }
      case "}":
        return undefined;
      case "end":
        return this.#fail(open, "Unclosed object", "No closing brace was found for this JSON object.");
      case "]":
        this.#read();
        return this.#fail(this.#peek(), "Mismatched braces", "A JSON object must be closed with a brace, not a bracket.");
      default: {
        this.#recover(this.#read(), "{", "}");
        const detail = "A comma must appear between each property definition in an object.";
        return this.#fail(this.#peek(), "Missing attribute seperator comma", detail);
      }
    }
  }

  #array(depth: number): Expression {
    const open = this.#read();
    const items: Expression[] = [];
    while (this.#peek().kind !== "]") {
      items.push(this.#value(depth + 1));
      const problem = this.#afterElement(open);
      if (problem !== undefined) return problem;
    }
    const close = this.#read();
    return { kind: "tuple", items, openRange: this.#range(open), range: this.#range(open, close) };
  }

  #afterElement(open: JsonToken): Expression | undefined {
    const next = this.#peek();
    if (next.kind === "]") return undefined;
    if (next.kind === ",") {
      this.#read();
      if (this.#peek().kind !== "]") return undefined;
      const detail = "JSON does not permit a trailing comma after the final value in an array.";
      return this.#fail(next, "Trailing comma in array", detail);
    }
    this.#recover(this.#read(), "[", "]");
    if (next.kind === "end") return this.#fail(open, "Unclosed object", "No closing bracket was found for this JSON array.");
    const here = this.#peek();
    if (next.kind === ":")
      return this.#fail(here, "Invalid array value", "A colon is not used to introduce values in a JSON array.");
    if (next.kind === "}")
      return this.#fail(here, "Mismatched brackets", "A JSON array must be closed with a bracket, not a brace.");
    return this.#fail(here, "Missing attribute seperator comma", "A comma must appear between each value in an array.");
  }
}
