import type { Node } from "web-tree-sitter";
import { readExpression } from "./read-expression.ts";
import { literalText } from "./string-literal.ts";
import type { Attribute, Block, Body, SourceRange } from "./syntax.ts";
import { childOf, childrenOf, MAX_TREE_DEPTH, rangeOf, report, type TreeContext } from "./tree-context.ts";

/** Reads a body between two offsets; `node` is absent for an empty one. */
export function readBody(context: TreeContext, node: Node | undefined, start: number, end: number, depth: number): Body {
  const attributes = new Map<string, Attribute>();
  const blocks: Block[] = [];
  if (depth > MAX_TREE_DEPTH) {
    report(context, context.lines.range(start, start), "Nesting too deep", `Blocks are nested more than ${MAX_TREE_DEPTH} deep.`);
  } else {
    for (const child of node === undefined ? [] : itemsOf(node)) {
      if (child.type === "attribute") addAttribute(attributes, readAttribute(context, child, depth));
      else if (child.type === "block") blocks.push(readBlock(context, child, depth));
    }
  }
  return {
    attributes: [...attributes.values()],
    blocks,
    range: context.lines.range(start, end),
    endRange: context.lines.range(end, end),
  };
}

/** Attributes and blocks, looked for inside broken stretches as well. */
function itemsOf(node: Node): Node[] {
  return childrenOf(node).flatMap((child) => (child.isError || child.type === "body" ? itemsOf(child) : [child]));
}

/** A second attribute of one name was reported before; the first one counts. */
function addAttribute(attributes: Map<string, Attribute>, attribute: Attribute | undefined): void {
  if (attribute !== undefined && !attributes.has(attribute.name)) attributes.set(attribute.name, attribute);
}

function readAttribute(context: TreeContext, node: Node, depth: number): Attribute | undefined {
  const name = childOf(node, "identifier");
  const expression = childOf(node, "expression");
  if (name === undefined || expression === undefined) return undefined;
  return {
    name: name.text,
    nameRange: rangeOf(context, name),
    expression: readExpression(context, expression, depth + 1),
    range: rangeOf(context, node),
  };
}

function readBlock(context: TreeContext, node: Node, depth: number): Block {
  const children = childrenOf(node);
  const [type, ...rest] = children;
  const typeRange = rangeOf(context, type ?? node);
  const labels: string[] = [];
  const labelRanges: SourceRange[] = [];
  for (const child of rest) {
    if (child.type === "block_start") break;
    if (child.type === "identifier") labels.push(child.text);
    else if (child.type === "string_lit") labels.push(readLabel(context, child));
    else continue;
    labelRanges.push(rangeOf(context, child));
  }
  const open = childOf(node, "block_start");
  const close = node.children.findLast((child) => child.type === "block_end");
  const openEnd = open?.endIndex ?? node.endIndex;
  const closeStart = close?.startIndex ?? node.endIndex;
  const bodyNode = childOf(node, "body") ?? node.children.find((child) => child.isError);
  const last = labelRanges.at(-1) ?? typeRange;
  return {
    type: type?.text ?? "",
    typeRange,
    labels,
    labelRanges,
    body: readBody(context, bodyNode, openEnd, Math.max(openEnd, closeStart), depth + 1),
    openRange: open === undefined ? typeRange : rangeOf(context, open),
    closeRange: close === undefined ? context.lines.range(node.endIndex, node.endIndex) : rangeOf(context, close),
    headerRange: { filename: typeRange.filename, start: typeRange.start, end: last.end },
    range: rangeOf(context, node),
  };
}

function readLabel(context: TreeContext, node: Node): string {
  return literalText(context.text.slice(node.startIndex + 1, Math.max(node.startIndex + 1, node.endIndex - 1)), "quoted");
}
