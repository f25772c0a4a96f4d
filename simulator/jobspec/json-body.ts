import type { HclParser } from "../../hcl/parser.ts";
import type { Body, Diagnostic, Expression, SourceRange } from "../../hcl/syntax.ts";
import { startRange } from "../../hcl/syntax.ts";
import {
  type BlockSchema,
  type BodySchema,
  type BodySource,
  nameSuggestion,
  type RawAttr,
  type RawBlock,
  type RawContent,
  report,
} from "./body-view.ts";
import { jsonExpression } from "./json-expression.ts";

/** HCL in JSON: what a property is, attribute or block, only the schema says (nomad-api §1). */
export function jsonSource(value: Expression, parser: HclParser): BodySource {
  return {
    missingRange: missingRange(value),
    content: (schema, partial, diagnostics) => new ContentReader(parser, schema, diagnostics).read(value, partial),
    justAttributes: (diagnostics) => jsonAttributes(value, parser, diagnostics),
    onlyAttributes: (diagnostics) => jsonAttributes(value, parser, diagnostics),
  };
}

/** The closing brace of an object, the opening bracket of a list. */
function missingRange(value: Expression): SourceRange {
  if (value.kind !== "object") return startRange(value);
  const { end } = value.range;
  return {
    filename: value.range.filename,
    start: { ...end, column: end.column - 1, byte: end.byte - 1, offset: end.offset - 1 },
    end,
  };
}

interface Property {
  readonly name: string;
  readonly nameRange: SourceRange;
  readonly range: SourceRange;
  readonly value: Expression;
}

function attributeOf(property: Property, parser: HclParser): RawAttr {
  const { name, nameRange, range, value } = property;
  return { name, nameRange, range, ...jsonExpression(value, parser) };
}

function properties(value: Expression): Property[] {
  if (value.kind !== "object") return [];
  return value.items.map((item) => {
    const { range: nameRange } = item.key;
    const range = { filename: nameRange.filename, start: nameRange.start, end: item.value.range.end };
    return { name: item.keyName ?? "", nameRange, range, value: item.value };
  });
}

function isNull(value: Expression): boolean {
  return value.kind === "literal" && value.value.type === "null";
}

/** The properties of an object, or of all objects in a list. `label`: what the names stand for, undefined in a body. */
function deepProperties(value: Expression, label: string | undefined, diagnostics: Diagnostic[]): Property[] {
  if (isNull(value)) return [];
  if (value.kind === "object") return properties(value);
  const purpose = label === undefined ? "to define arguments and child blocks" : `to specify ${label} labels for this block`;
  if (value.kind === "tuple") {
    return value.items.flatMap((item) => {
      if (item.kind === "object") return properties(item);
      report(diagnostics, startRange(item), "Incorrect JSON value type", `A JSON object is required here, ${purpose}.`);
      return [];
    });
  }
  const detail = `Either a JSON object or JSON array of objects is required here, ${purpose}.`;
  report(diagnostics, startRange(value), "Incorrect JSON value type", detail);
  return [];
}

/** Reads what a schema names out of an object, or out of all objects of a list. */
class ContentReader {
  readonly #parser: HclParser;
  readonly #schema: BodySchema;
  readonly #diagnostics: Diagnostic[];
  readonly #attributes = new Map<string, RawAttr>();
  readonly #blocks: RawBlock[] = [];

  constructor(parser: HclParser, schema: BodySchema, diagnostics: Diagnostic[]) {
    this.#parser = parser;
    this.#schema = schema;
    this.#diagnostics = diagnostics;
  }

  read(value: Expression, partial: boolean): RawContent {
    const wantedAttributes = new Set(this.#schema.attributes.map((a) => a.name));
    const wantedBlocks = new Map(this.#schema.blocks.map((b) => [b.type, b]));
    const found = deepProperties(value, undefined, this.#diagnostics);
    for (const property of found) {
      const block = wantedBlocks.get(property.name);
      const earlier = this.#attributes.get(property.name);
      if (wantedAttributes.has(property.name)) {
        if (earlier === undefined) this.#attributes.set(property.name, attributeOf(property, this.#parser));
        else reportTwice(property, earlier, "Duplicate argument", this.#diagnostics);
      } else if (block !== undefined) this.#unpack(property, block, property.value, [], []);
    }
    for (const { name, required } of this.#schema.attributes) {
      if (!required || this.#attributes.has(name)) continue;
      const detail = `The argument "${name}" is required, but no definition was found.`;
      report(this.#diagnostics, missingRange(value), "Missing required argument", detail);
    }
    if (!partial) {
      // Nomad looks at the properties once more here, and tells once more what is wrong with them.
      const again = deepProperties(value, undefined, this.#diagnostics);
      reportExtraneous(again, this.#schema, this.#attributes, this.#diagnostics);
    }
    return { attributes: this.#attributes, blocks: this.#blocks };
  }

  /** Peels the labels off, one level of objects for each, until the bodies are reached. */
  #unpack(
    property: Property,
    schema: BlockSchema,
    value: Expression,
    labels: readonly string[],
    labelRanges: readonly SourceRange[],
  ): void {
    const label = schema.labels[labels.length];
    if (label !== undefined) {
      const inner = deepProperties(value, label, this.#diagnostics);
      if (inner.length === 0) {
        const detail = `At least one object property is required, whose name represents the ${schema.type} block's ${label}.`;
        report(this.#diagnostics, startRange(value), "Missing block label", detail);
      }
      for (const { name, nameRange, value: body } of inner) {
        this.#unpack(property, schema, body, [...labels, name], [...labelRanges, nameRange]);
      }
      return;
    }
    if (isNull(value)) return;
    const block = (body: Expression): RawBlock => ({
      type: schema.type,
      typeRange: property.nameRange,
      labels,
      labelRanges,
      headerRange: startRange(value),
      body: jsonSource(body, this.#parser),
    });
    if (value.kind === "object") this.#blocks.push(block(value));
    else if (value.kind === "tuple") this.#blocks.push(...value.items.map(block));
    else {
      const detail = `Either a JSON object or a JSON array is required, representing the contents of one or more "${schema.type}" blocks.`;
      report(this.#diagnostics, startRange(value), "Incorrect JSON value type", detail);
    }
  }
}

function reportTwice(property: Property, earlier: RawAttr, summary: string, diagnostics: Diagnostic[]): void {
  const { filename, start, end } = earlier.range;
  const place = `${filename}:${start.line},${start.column}-${start.line === end.line ? "" : `${end.line},`}${end.column}`;
  report(diagnostics, property.nameRange, summary, `The argument "${property.name}" was already set at ${place}.`);
}

function reportExtraneous(
  found: readonly Property[],
  schema: BodySchema,
  attributes: ReadonlyMap<string, RawAttr>,
  diagnostics: Diagnostic[],
): void {
  const types = schema.blocks.map((b) => b.type);
  const known = new Set([...schema.attributes.map((a) => a.name), ...types, "//"]);
  const names = [...schema.attributes.map((a) => a.name).filter((n) => !attributes.has(n)), ...types];
  for (const { name, nameRange } of found) {
    if (known.has(name)) continue;
    const near = nameSuggestion(name, names);
    const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
    const detail = `No argument or block type is named "${name}".${hint}`;
    report(diagnostics, nameRange, "Extraneous JSON object property", detail);
  }
}

function jsonAttributes(value: Expression, parser: HclParser, diagnostics: Diagnostic[]): ReadonlyMap<string, RawAttr> {
  const found = new Map<string, RawAttr>();
  if (value.kind !== "object") {
    const detail = "A JSON object is required here, setting the arguments for this block.";
    report(diagnostics, startRange(value), "Incorrect JSON value type", detail);
    return found;
  }
  for (const property of properties(value)) {
    if (property.name === "//") continue;
    const earlier = found.get(property.name);
    if (earlier === undefined) found.set(property.name, attributeOf(property, parser));
    else reportTwice(property, earlier, "Duplicate attribute definition", diagnostics);
  }
  return found;
}

/** The properties of a whole JSON file as one object. */
export function objectOfBody(body: Body): Expression {
  const { range } = body;
  const items = body.attributes.map((attribute) => ({
    keyName: attribute.name,
    key: { kind: "invalid", range: attribute.nameRange } as const,
    value: attribute.expression,
  }));
  return { kind: "object", items, openRange: { ...range, end: range.start }, range };
}
