import type { Attribute, Block, Body, Expression, ObjectExpression } from "./syntax.ts";
import { literalString } from "./walk.ts";

/** Labels of the blocks at the top of a job file. */
const LABELS: Readonly<Record<string, number>> = { job: 1, variable: 1, variables: 0, locals: 0 };

/** The blocks a job file in JSON consists of; their insides stay attributes. */
export function jsonBlocks(body: Body): Block[] {
  return body.attributes.flatMap((attribute) => {
    const labels = LABELS[attribute.name];
    return labels === undefined ? [] : unpack(attribute, attribute.expression, labels, []);
  });
}

/** One level of objects for every label, then the body; lists stand for several. */
function unpack(attribute: Attribute, value: Expression, labels: number, names: readonly Attribute[]): Block[] {
  if (value.kind === "tuple") return value.items.flatMap((item) => unpack(attribute, item, labels, names));
  if (value.kind !== "object") return [];
  if (labels === 0) return [blockOf(attribute, value, names)];
  return attributesOf(value).flatMap((name) => unpack(attribute, name.expression, labels - 1, [...names, name]));
}

function attributesOf(value: ObjectExpression): Attribute[] {
  return value.items.map((item) => ({
    name: item.keyName ?? literalString(item.key) ?? "",
    nameRange: item.key.range,
    expression: item.value,
    range: { ...item.key.range, end: item.value.range.end },
  }));
}

function blockOf(attribute: Attribute, value: ObjectExpression, names: readonly Attribute[]): Block {
  const { range, openRange } = value;
  const endRange = { ...range, start: range.end };
  return {
    type: attribute.name,
    typeRange: attribute.nameRange,
    labels: names.map(({ name }) => name),
    labelRanges: names.map(({ nameRange }) => nameRange),
    body: { attributes: attributesOf(value), blocks: [], range, endRange },
    openRange,
    closeRange: endRange,
    headerRange: attribute.nameRange,
    range: { ...attribute.nameRange, end: range.end },
  };
}
