import type { Diagnostic } from "../../hcl/syntax.ts";
import { formatRange } from "../../hcl/syntax.ts";
import { apiTable } from "./api-tables.ts";
import { type Attr, type BodySchema, report } from "./body-view.ts";
import { decodeAttribute, decodeText, decodeTextList } from "./decode-value.ts";
import { blankOf } from "./empty.ts";
import type { BlockView, BodyView } from "./expand-body.ts";
import type { Field, Table } from "./schema.ts";
import type { Rec } from "./values.ts";

/** A free-form map is read as attributes first and evaluated when everything else was read. */
export class Unevaluated {
  readonly attributes: ReadonlyMap<string, Attr>;

  constructor(attributes: ReadonlyMap<string, Attr>) {
    this.attributes = attributes;
  }
}

/** Reads a body into an object of its own kind, where the plain way does not do. */
export type SpecialBody = (body: BodyView, diagnostics: Diagnostic[]) => Rec;

/** The blocks with a way of their own, by table. */
export type Specials = Readonly<Record<string, SpecialBody>>;

const schemas = new Map<string, BodySchema>();

/** What may stand in the block of a table: its attributes and blocks, in the order of their names. */
export function schemaOf(table: Table): BodySchema {
  const known = schemas.get(table.name);
  if (known !== undefined) return known;
  const byHcl = (a: Field, b: Field) => ((a.hcl ?? "") < (b.hcl ?? "") ? -1 : 1);
  const attributes = [...table.byAttribute.values()].sort(byHcl);
  const blocks = [...table.byBlock.values()].sort(byHcl);
  const schema: BodySchema = {
    // A pointer is never required, whatever the tag says.
    attributes: attributes.map((f) => ({ name: f.hcl ?? "", required: f.required && !f.pointer })),
    blocks: blocks.map((f) => ({ type: f.hcl ?? "", labels: labelsOf(f) })),
  };
  schemas.set(table.name, schema);
  return schema;
}

function labelsOf(field: Field): readonly string[] {
  const label = field.table === "" ? undefined : apiTable(field.table).label;
  return label === undefined ? [] : [label.hcl ?? ""];
}

/** Reads the body of a block into an object of the client's form. What is wrong goes to the diagnostics. */
export function decodeBody(table: Table, body: BodyView, diagnostics: Diagnostic[], specials: Specials): Rec {
  const special = specials[table.name];
  return special === undefined ? decodePlain(table, body, diagnostics, specials) : special(body, diagnostics);
}

/** The same without regard to a way of its own. */
export function decodePlain(table: Table, body: BodyView, diagnostics: Diagnostic[], specials: Specials): Rec {
  const object = blankOf(table);
  const content = body.content(schemaOf(table), diagnostics);
  for (const [name, attr] of content.attributes) {
    const field = table.byAttribute.get(name);
    if (field === undefined) continue;
    const value = decodeAttribute(attr, field, diagnostics);
    if (value !== undefined) object[field.name] = value;
  }
  for (const [type, field] of table.byBlock) {
    const blocks = content.blocks.filter((block) => block.type === type);
    if (blocks.length > 0) object[field.name] = decodeBlocks(field, blocks, diagnostics, specials) ?? object[field.name];
  }
  return object;
}

function decodeBlocks(field: Field, blocks: readonly BlockView[], diagnostics: Diagnostic[], specials: Specials): unknown {
  const decoded = (block: BlockView) => decodeBlock(apiTable(field.table), block, diagnostics, specials);
  if (field.kind === "list") return blocks.map(decoded);
  if (field.kind === "structmap") return Object.fromEntries(blocks.map((block) => [block.labels[0] ?? "", decoded(block)]));
  const [first, second] = blocks;
  if (first === undefined) return undefined;
  if (second !== undefined) {
    const detail = `Only one ${field.hcl} block is allowed. Another was defined at ${formatRange(first.headerRange)}.`;
    report(diagnostics, second.headerRange, `Duplicate ${field.hcl} block`, detail);
    return undefined;
  }
  return field.kind === "struct" ? decoded(first) : decodeMap(field, first.body, diagnostics);
}

/** A block with its label. */
export function decodeBlock(table: Table, block: BlockView, diagnostics: Diagnostic[], specials: Specials): Rec {
  const object = decodeBody(table, block.body, diagnostics, specials);
  if (table.label !== undefined && block.labels[0] !== undefined) object[table.label.name] = block.labels[0];
  return object;
}

function decodeMap(field: Field, body: BodyView, diagnostics: Diagnostic[]): unknown {
  const attributes = body.justAttributes(diagnostics);
  if (field.kind === "any") return new Unevaluated(attributes);
  const map: Rec = {};
  for (const [name, attr] of attributes) {
    map[name] = field.kind === "headers" ? decodeTextList(attr, diagnostics) : decodeText(attr, diagnostics);
  }
  return map;
}
