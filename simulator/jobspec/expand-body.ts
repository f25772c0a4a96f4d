import { ConversionError, convert } from "../../hcl/convert.ts";
import { evaluate } from "../../hcl/evaluate.ts";
import { elementsOf } from "../../hcl/evaluate-for.ts";
import { childScope, type Scope } from "../../hcl/scope.ts";
import type { Diagnostic, Expression, SourceRange } from "../../hcl/syntax.ts";
import { friendlyType } from "../../hcl/type-names.ts";
import { objectValue, STRING, typeOf, type Value } from "../../hcl/value.ts";
import {
  type Attr,
  type BlockSchema,
  type BodySchema,
  type BodySource,
  evaluateAttribute,
  type RawAttr,
  type RawBlock,
  report,
} from "./body-view.ts";

/** A block whose body knows its names. */
export interface BlockView {
  readonly type: string;
  readonly labels: readonly string[];
  readonly labelRanges: readonly SourceRange[];
  readonly headerRange: SourceRange;
  readonly body: BodyView;
}

export interface Content {
  readonly attributes: ReadonlyMap<string, Attr>;
  readonly blocks: readonly BlockView[];
}

const DYNAMIC: BlockSchema = { type: "dynamic", labels: ["type"] };

/** A body with its `dynamic` blocks expanded; what was taken out of it before is hidden (nomad-api §1). */
export class BodyView {
  readonly #source: BodySource;
  readonly #scope: Scope;
  readonly #hiddenAttributes: ReadonlySet<string>;
  readonly #hiddenBlocks: ReadonlyMap<string, BlockSchema>;

  constructor(
    source: BodySource,
    scope: Scope,
    hiddenAttributes: ReadonlySet<string> = new Set(),
    hiddenBlocks: ReadonlyMap<string, BlockSchema> = new Map(),
  ) {
    this.#source = source;
    this.#scope = scope;
    this.#hiddenAttributes = hiddenAttributes;
    this.#hiddenBlocks = hiddenBlocks;
  }

  get missingRange(): SourceRange {
    return this.#source.missingRange;
  }

  /** What the schema names; anything else in the body is an error. */
  content(schema: BodySchema, diagnostics: Diagnostic[]): Content {
    return this.#read(schema, false, diagnostics);
  }

  /** What the schema names, and the body without it. */
  partial(schema: BodySchema, diagnostics: Diagnostic[]): readonly [Content, BodyView] {
    const content = this.#read(schema, true, diagnostics);
    const attributes = new Set([...this.#hiddenAttributes, ...schema.attributes.map((a) => a.name)]);
    const blocks = new Map([...this.#hiddenBlocks, ...schema.blocks.map((b) => [b.type, b] as const)]);
    return [content, new BodyView(this.#source, this.#scope, attributes, blocks)];
  }

  /** Everything as attributes, for maps without a schema. */
  justAttributes(diagnostics: Diagnostic[]): ReadonlyMap<string, Attr> {
    return this.#scoped(this.#source.justAttributes(diagnostics));
  }

  #scoped(raw: ReadonlyMap<string, Omit<Attr, "scope">>): Map<string, Attr> {
    const found = new Map<string, Attr>();
    for (const [name, attribute] of raw) {
      if (!this.#hiddenAttributes.has(name)) found.set(name, { ...attribute, scope: this.#scope });
    }
    return found;
  }

  #read(schema: BodySchema, partial: boolean, diagnostics: Diagnostic[]): Content {
    const extended: BodySchema = {
      attributes: [...schema.attributes, ...[...this.#hiddenAttributes].map((name) => ({ name, required: false }))],
      blocks: [...schema.blocks, DYNAMIC, ...this.#hiddenBlocks.values()],
    };
    const raw = this.#source.content(extended, partial, diagnostics);
    const blocks: BlockView[] = [];
    for (const block of raw.blocks) {
      if (block.type === "dynamic") blocks.push(...this.#expand(block, schema, partial, diagnostics));
      else if (!this.#hiddenBlocks.has(block.type)) blocks.push({ ...block, body: new BodyView(block.body, this.#scope) });
    }
    return { attributes: this.#scoped(raw.attributes), blocks };
  }

  #expand(block: RawBlock, schema: BodySchema, partial: boolean, diagnostics: Diagnostic[]): BlockView[] {
    const [type = ""] = block.labels;
    if (this.#hiddenBlocks.has(type)) return [];
    const wanted = schema.blocks.find((b) => b.type === type);
    if (wanted === undefined) {
      if (!partial) {
        report(diagnostics, block.labelRanges[0], "Unsupported block type", `Blocks of type "${type}" are not expected here.`);
      }
      return [];
    }
    const spec = this.#dynamicSpec(block, wanted, diagnostics);
    if (spec === undefined) return [];
    const blocks: BlockView[] = [];
    for (const [key, value] of spec.elements) {
      const item = objectValue([
        ["key", key],
        ["value", value],
      ]);
      const scope = childScope(this.#scope, new Map([[spec.iterator, item]]));
      const labels = labelTexts(spec.labels, scope, diagnostics);
      if (labels === undefined) continue;
      const labelRanges = spec.labels.map((label) => label.range);
      blocks.push({ type, labels, labelRanges, headerRange: block.headerRange, body: new BodyView(spec.content, scope) });
    }
    return blocks;
  }

  #dynamicSpec(block: RawBlock, wanted: BlockSchema, diagnostics: Diagnostic[]): DynamicSpec | undefined {
    const before = diagnostics.length;
    const labelled = wanted.labels.length > 0;
    const schema: BodySchema = {
      attributes: [
        { name: "for_each", required: true },
        { name: "iterator", required: false },
        ...(labelled ? [{ name: "labels", required: true }] : []),
      ],
      blocks: [{ type: "content", labels: [] }],
    };
    const content = block.body.content(schema, false, diagnostics);
    if (diagnostics.length > before) return undefined;
    const iterator = iteratorName(content.attributes.get("iterator"), wanted.type, diagnostics);
    const each = content.attributes.get("for_each");
    if (iterator === undefined || each === undefined) return undefined;
    const elements = this.#elements(each, diagnostics);
    if (elements === undefined) return undefined;
    const labels = dynamicLabels(content.attributes.get("labels")?.expression, wanted, diagnostics);
    const [body, second] = content.blocks;
    if (labels === undefined) return undefined;
    if (body === undefined) {
      const detail = 'A dynamic block must have a nested block of type "content" to describe the body of each generated block.';
      report(diagnostics, block.body.missingRange, "Missing dynamic content block", detail);
      return undefined;
    }
    if (second !== undefined) {
      const detail = "Only one nested content block is allowed for each dynamic block.";
      report(diagnostics, second.headerRange, "Extraneous dynamic content block", detail);
      return undefined;
    }
    return { iterator, elements, labels, content: body.body };
  }

  #elements(each: RawAttr, diagnostics: Diagnostic[]): readonly (readonly [Value, Value])[] | undefined {
    const { expression } = each;
    const { value, diagnostics: found } = evaluateAttribute(each, this.#scope);
    diagnostics.push(...found);
    if (found.length > 0) return undefined;
    const summary = "Invalid dynamic for_each value";
    if (value.kind === "null") {
      report(diagnostics, expression.range, summary, "Cannot use a null value in for_each.");
      return undefined;
    }
    if (value.kind === "unknown") return [];
    const elements = elementsOf(value);
    if (elements !== undefined) return elements;
    const detail = `Cannot use a ${friendlyType(typeOf(value))} value in for_each. An iterable collection is required.`;
    report(diagnostics, expression.range, summary, detail);
    return undefined;
  }
}

interface DynamicSpec {
  readonly iterator: string;
  readonly elements: readonly (readonly [Value, Value])[];
  readonly labels: readonly Expression[];
  readonly content: BodySource;
}

function iteratorName(attribute: RawAttr | undefined, type: string, diagnostics: Diagnostic[]): string | undefined {
  if (attribute === undefined) return type;
  const expression = attribute.keyword?.() ?? attribute.expression;
  if (expression.kind === "variable") {
    if (expression.steps.length === 0) return expression.root;
    report(diagnostics, expression.range, "Invalid dynamic iterator name", "Dynamic iterator must be a single variable name.");
    return undefined;
  }
  const detail =
    "A single static variable reference is required: only attribute access and indexing with constant keys. No calculations, function calls, template expressions, etc are allowed here.";
  report(diagnostics, attribute.expression.range, "Invalid expression", detail);
  return undefined;
}

function dynamicLabels(
  expression: Expression | undefined,
  wanted: BlockSchema,
  diagnostics: Diagnostic[],
): readonly Expression[] | undefined {
  if (expression === undefined) return [];
  if (expression.kind !== "tuple") {
    report(diagnostics, expression.range, "Invalid expression", "A static list expression is required.");
    return undefined;
  }
  const { items } = expression;
  if (items.length === wanted.labels.length) return items;
  const tooMany = items[wanted.labels.length];
  const summary = tooMany === undefined ? "Insufficient dynamic block labels" : "Extraneous dynamic block label";
  const detail = `Blocks of type "${wanted.type}" require ${wanted.labels.length} label(s).`;
  report(diagnostics, (tooMany ?? expression).range, summary, detail);
  return undefined;
}

function labelTexts(labels: readonly Expression[], scope: Scope, diagnostics: Diagnostic[]): string[] | undefined {
  const texts: string[] = [];
  for (const label of labels) {
    const { value, diagnostics: found } = evaluate(label, scope);
    diagnostics.push(...found);
    if (found.length > 0) return undefined;
    const text = labelText(value);
    if (typeof text !== "string") {
      report(diagnostics, label.range, "Invalid dynamic block label", text.problem);
      return undefined;
    }
    texts.push(text);
  }
  return texts;
}

function labelText(value: Value): string | { readonly problem: string } {
  try {
    const text = convert(value, STRING);
    if (text.kind === "string") return text.value;
    if (text.kind === "null") return { problem: "Cannot use a null value as a dynamic block label." };
    return { problem: "This value is not yet known. Dynamic block labels must be immediately-known values." };
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    return { problem: `Cannot use this value as a dynamic block label: ${error.message}.` };
  }
}
