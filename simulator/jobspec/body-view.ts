import { evaluate } from "../../hcl/evaluate.ts";
import type { Evaluation, Scope } from "../../hcl/scope.ts";
import type { Body, Diagnostic, Expression, SourceRange } from "../../hcl/syntax.ts";

/** What may stand in a body. Labels are the names that messages use for them. */
export interface BodySchema {
  readonly attributes: readonly { readonly name: string; readonly required: boolean }[];
  readonly blocks: readonly BlockSchema[];
}

export interface BlockSchema {
  readonly type: string;
  readonly labels: readonly string[];
}

/** An attribute and where its names are looked up. */
export interface Attr extends RawAttr {
  readonly scope: Scope;
}

/** A block as it stands in the file, or as JSON stands for it. */
export interface RawBlock {
  readonly type: string;
  readonly typeRange: SourceRange;
  readonly labels: readonly string[];
  readonly labelRanges: readonly SourceRange[];
  /** What messages call the place of its definition. */
  readonly headerRange: SourceRange;
  readonly body: BodySource;
}

/** An attribute without a scope. */
export interface RawAttr {
  readonly name: string;
  readonly nameRange: SourceRange;
  readonly range: SourceRange;
  readonly expression: Expression;
  /** From JSON: the value where Nomad evaluates nothing, strings as they stand. */
  readonly constant?: Expression;
  /** From JSON: the value where the name of something or a type is wanted. */
  readonly keyword?: () => Expression;
  /** From JSON: what is wrong in the value's templates, to be told whenever it is evaluated. */
  readonly problems?: readonly Diagnostic[];
}

/** What an attribute is worth, and what is wrong with it. */
export function evaluateAttribute(attribute: RawAttr, scope: Scope): Evaluation {
  const { value, diagnostics } = evaluate(attribute.expression, scope);
  const { problems = [] } = attribute;
  return problems.length === 0 ? { value, diagnostics } : { value, diagnostics: [...problems, ...diagnostics] };
}

export interface RawContent {
  readonly attributes: ReadonlyMap<string, RawAttr>;
  readonly blocks: readonly RawBlock[];
}

/** The inside of a file or block, in HCL or JSON, before `dynamic` blocks are expanded. */
export interface BodySource {
  /** `partial`: what the schema does not name is passed over. */
  readonly content: (schema: BodySchema, partial: boolean, diagnostics: Diagnostic[]) => RawContent;
  /** Everything as attributes. */
  readonly justAttributes: (diagnostics: Diagnostic[]) => ReadonlyMap<string, RawAttr>;
  /** Attributes only; a block among them is an error. */
  readonly onlyAttributes: (diagnostics: Diagnostic[]) => ReadonlyMap<string, RawAttr>;
  /** Where messages about something missing point. */
  readonly missingRange: SourceRange;
}

export function report(diagnostics: Diagnostic[], range: SourceRange | undefined, summary: string, detail: string): void {
  diagnostics.push({ severity: "error", summary, detail, ...(range === undefined ? {} : { range }) });
}

/** The first name, in order, that a misspelt one is near to: fewer than three edits. */
export function nameSuggestion(given: string, names: readonly string[]): string | undefined {
  return names.find((name) => editDistance(given, name) < 3);
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j - 1] ?? 0) + same, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A body in HCL's own syntax. `start`: the opening brace, of a file its beginning. */
export function nativeSource(body: Body, start = body.range.start): BodySource {
  const missingRange = { filename: body.range.filename, start, end: start };
  return {
    missingRange,
    content: (schema, partial, diagnostics) => nativeContent(body, missingRange, schema, partial, diagnostics),
    justAttributes: () => attributesAndBlocks(body),
    onlyAttributes: (diagnostics) => onlyAttributes(body, diagnostics),
  };
}

function onlyAttributes(body: Body, diagnostics: Diagnostic[]): ReadonlyMap<string, RawAttr> {
  const [block] = body.blocks;
  if (block !== undefined)
    report(diagnostics, block.typeRange, `Unexpected "${block.type}" block`, "Blocks are not allowed here.");
  return new Map(body.attributes.map((attribute) => [attribute.name, attribute]));
}

function nativeContent(
  body: Body,
  missingRange: SourceRange,
  schema: BodySchema,
  partial: boolean,
  diagnostics: Diagnostic[],
): RawContent {
  const attributes = new Map<string, RawAttr>();
  const wantedBlocks = new Map(schema.blocks.map((b) => [b.type, b]));
  const known = new Map(body.attributes.map((a) => [a.name, a]));
  for (const { name, required } of schema.attributes) {
    const found = known.get(name);
    if (found !== undefined) attributes.set(name, found);
    else if (required) {
      report(
        diagnostics,
        missingRange,
        "Missing required argument",
        `The argument "${name}" is required, but no definition was found.`,
      );
    }
  }
  const blocks: RawBlock[] = [];
  for (const block of body.blocks) {
    const wanted = wantedBlocks.get(block.type);
    if (wanted === undefined || !labelsFit(block, wanted, diagnostics)) continue;
    const { type, typeRange, labels, labelRanges, headerRange } = block;
    blocks.push({ type, typeRange, labels, labelRanges, headerRange, body: nativeSource(block.body, block.openRange.start) });
  }
  if (!partial) reportUnsupported(body, schema, attributes, diagnostics);
  return { attributes, blocks };
}

function labelsFit(block: Body["blocks"][number], wanted: BlockSchema, diagnostics: Diagnostic[]): boolean {
  const [have, want, name] = [block.labels.length, wanted.labels.length, block.type];
  const list = wanted.labels.join(", ");
  if (have > want) {
    const detail =
      want === 0
        ? `No labels are expected for ${name} blocks.`
        : `Only ${want} labels (${list}) are expected for ${name} blocks.`;
    report(diagnostics, block.labelRanges[want], `Extraneous label for ${name}`, detail);
  } else if (have < want) {
    const detail = `All ${name} blocks must have ${want} labels (${list}).`;
    report(diagnostics, block.openRange, `Missing ${wanted.labels[have]} for ${name}`, detail);
  }
  return have === want;
}

function reportUnsupported(body: Body, schema: BodySchema, found: ReadonlyMap<string, RawAttr>, diagnostics: Diagnostic[]): void {
  const names = schema.attributes.map((a) => a.name);
  const types = schema.blocks.map((b) => b.type);
  for (const { name, nameRange } of body.attributes) {
    if (names.includes(name)) continue;
    const near = nameSuggestion(
      name,
      names.filter((n) => !found.has(n)),
    );
    const block = types.includes(name) ? ` Did you mean to define a block of type "${name}"?` : "";
    const hint = near === undefined ? block : ` Did you mean "${near}"?`;
    report(diagnostics, nameRange, "Unsupported argument", `An argument named "${name}" is not expected here.${hint}`);
  }
  for (const { type, typeRange } of body.blocks) {
    if (types.includes(type)) continue;
    const near = nameSuggestion(type, types);
    const argument = names.includes(type)
      ? ` Did you mean to define argument "${type}"? If so, use the equals sign to assign it a value.`
      : "";
    const hint = near === undefined ? argument : ` Did you mean "${near}"?`;
    report(diagnostics, typeRange, "Unsupported block type", `Blocks of type "${type}" are not expected here.${hint}`);
  }
}

/** Driver configurations have no schema: blocks in them stand for lists of maps, labels for further maps. */
function attributesAndBlocks(body: Body): ReadonlyMap<string, RawAttr> {
  const found = new Map<string, RawAttr>();
  for (const attribute of body.attributes) {
    found.set(attribute.name, { ...attribute, expression: inList(attribute.expression) });
  }
  for (const [type, blocks] of byType(body)) {
    const [first] = blocks;
    if (first === undefined) continue;
    found.set(type, { name: type, nameRange: first.typeRange, range: first.body.range, expression: blocksExpression(blocks) });
  }
  return found;
}

type Block = Body["blocks"][number];

function byType(body: Body): ReadonlyMap<string, readonly Block[]> {
  const groups = new Map<string, Block[]>();
  for (const block of body.blocks) {
    const list = groups.get(block.type);
    if (list === undefined) groups.set(block.type, [block]);
    else list.push(block);
  }
  return groups;
}

/** A map that is written as an attribute counts as a block, too. */
function inList(expression: Expression): Expression {
  if (expression.kind !== "object") return expression;
  return { kind: "tuple", items: [expression], openRange: expression.openRange, range: expression.range };
}

function blocksExpression(blocks: readonly Block[]): Expression {
  const [first] = blocks;
  const last = blocks.at(-1);
  if (first === undefined || last === undefined) throw new Error("no blocks");
  const range = { filename: first.openRange.filename, start: first.openRange.start, end: last.closeRange.end };
  return { kind: "tuple", items: blocks.map(blockExpression), openRange: first.openRange, range };
}

function objectOf(items: readonly (readonly [string, SourceRange, Expression])[], range: SourceRange): Expression {
  return {
    kind: "object",
    items: items.map(([keyName, keyRange, value]) => ({ keyName, key: { kind: "invalid", range: keyRange }, value })),
    openRange: range,
    range,
  };
}

function blockExpression(block: Block): Expression {
  const items: (readonly [string, SourceRange, Expression])[] = block.body.attributes.map(
    (a) => [a.name, a.nameRange, inList(a.expression)] as const,
  );
  for (const [type, blocks] of byType(block.body)) {
    const [first] = blocks;
    if (first !== undefined) items.push([type, first.typeRange, blocksExpression(blocks)]);
  }
  let expression = objectOf(items, block.openRange);
  for (const [i, label] of [...block.labels.entries()].reverse()) {
    const range = block.labelRanges[i] ?? block.openRange;
    const list: Expression = { kind: "tuple", items: [expression], openRange: range, range };
    expression = objectOf([[label, range, list]], range);
  }
  return expression;
}
