import type { Node } from "web-tree-sitter";
import type { LineMap } from "./line-map.ts";
import type { Diagnostic, Expression, SourceRange } from "./syntax.ts";

/** Deeper nesting than any person writes; keeps hostile files from exhausting the stack. */
export const MAX_DEPTH = 100;

/** The same for the tree of the grammar, which nests chains of operators and wraps every expression several times. */
export const MAX_TREE_DEPTH = 1000;

/** What the readers of the concrete tree share while they read one file. */
export interface TreeContext {
  readonly text: string;
  readonly lines: LineMap;
  readonly diagnostics: Diagnostic[];
  /**
   * Reads an `expression` node at a depth of nesting. Handed in, because the readers of what expressions are made of
   * need it and are themselves needed by it.
   */
  readonly readExpression: (node: Node, depth: number) => Expression;
}

/** Adds an error to what was found so far. */
export function report(context: TreeContext, range: SourceRange, summary: string, detail: string): void {
  context.diagnostics.push({ severity: "error", summary, detail, range });
}

/** The range of a node of the concrete tree. */
export function rangeOf(context: TreeContext, node: Node): SourceRange {
  return context.lines.range(node.startIndex, node.endIndex);
}

/** The children that mean something: without comments. */
export function childrenOf(node: Node): Node[] {
  return node.children.filter((child) => child.type !== "comment");
}

/** First child of a type. */
export function childOf(node: Node, type: string): Node | undefined {
  return node.children.find((child) => child.type === type);
}
