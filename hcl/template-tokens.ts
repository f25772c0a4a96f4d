import type { Node } from "web-tree-sitter";
import { countCharacters } from "./line-map.ts";
import { literalText } from "./string-literal.ts";
import type { SourceRange } from "./syntax.ts";
import { childrenOf, rangeOf, type TreeContext } from "./tree-context.ts";

/** A template taken apart: literal text, `${…}` and `%{…}` in one flat list. */
export type TemplateToken =
  | { readonly kind: "text"; text: string; range: SourceRange }
  | { readonly kind: "marker"; readonly node: Node; readonly range: SourceRange };

const MARKERS = new Set([
  "template_interpolation",
  "template_for_start",
  "template_for_end",
  "template_if_intro",
  "template_else_intro",
  "template_if_end",
]);

/** What the scanner that made the concrete tree needs to tell: where the template's content lies. */
export interface TemplateExtent {
  readonly node: Node;
  readonly start: number;
  readonly end: number;
  readonly form: "quoted" | "heredoc" | "indented_heredoc";
}

/**
 * Takes a template apart. Text is everything between the markers: the concrete tree leaves out spaces at the edges of
 * its text nodes, so the text is cut from the source. Trim markers and the indentation of `<<-` are applied.
 */
export function templateTokens(context: TreeContext, extent: TemplateExtent): TemplateToken[] {
  const tokens: TemplateToken[] = [];
  let at = extent.start;
  let trimNext = false;
  for (const node of markersOf(extent.node)) {
    addText(context, tokens, extent, at, node.startIndex, trimNext);
    const opening = context.text.slice(node.startIndex, node.startIndex + 3);
    const previous = tokens.at(-1);
    if (opening.endsWith("~") && previous?.kind === "text" && at < node.startIndex) previous.text = trimEnd(previous.text);
    trimNext = context.text.slice(node.endIndex - 2, node.endIndex) === "~}";
    tokens.push({ kind: "marker", node, range: rangeOf(context, node) });
    at = node.endIndex;
  }
  addText(context, tokens, extent, at, extent.end, trimNext);
  if (extent.form === "indented_heredoc") removeIndentation(tokens);
  return joinTexts(tokens);
}

function markersOf(node: Node): Node[] {
  return childrenOf(node).flatMap((child) => {
    if (MARKERS.has(child.type)) return [child];
    return child.type === "quoted_template_start" || child.type === "quoted_template_end" ? [] : markersOf(child);
  });
}

/** Adds the text between two markers; that of a heredoc line by line, as indentation and trim markers work by lines. */
function addText(
  context: TreeContext,
  tokens: TemplateToken[],
  extent: TemplateExtent,
  start: number,
  end: number,
  trimStart: boolean,
): void {
  let at = start;
  let trim = trimStart;
  while (at < end) {
    const newline = extent.form === "quoted" ? -1 : context.text.indexOf("\n", at);
    const stop = newline === -1 || newline >= end ? end : newline + 1;
    const text = literalText(context.text.slice(at, stop), extent.form === "quoted" ? "quoted" : "heredoc");
    tokens.push({ kind: "text", text: trim ? trimLeft(text) : text, range: context.lines.range(at, stop) });
    trim = false;
    at = stop;
  }
}

// Go's idea of white space, which JavaScript's differs from in U+0085 and U+FEFF.
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const LEADING = new RegExp(`^${SPACE}+`);
const TRAILING = new RegExp(`${SPACE}+$`);

function trimLeft(text: string): string {
  return text.replace(LEADING, "");
}

function trimEnd(text: string): string {
  return text.replace(TRAILING, "");
}

/** The rule of `<<-`: the indentation of the least indented line is taken from all; blank lines do not count. */
function removeIndentation(tokens: readonly TemplateToken[]): void {
  let least = Number.POSITIVE_INFINITY;
  let lineStart = true;
  const indented: Extract<TemplateToken, { kind: "text" }>[] = [];
  for (const token of tokens) {
    if (token.kind === "marker") {
      if (lineStart) least = 0;
      lineStart = false;
      continue;
    }
    if (lineStart) {
      const spaces = token.text.length - trimLeft(token.text).length;
      if (spaces < token.text.length || !token.text.endsWith("\n")) {
        least = Math.min(least, countCharacters(token.text.slice(0, spaces)));
        indented.push(token);
      }
    }
    lineStart = token.text.endsWith("\n");
  }
  if (!Number.isFinite(least)) return;
  for (const token of indented) {
    token.text = token.text.slice(least);
    const { start } = token.range;
    const moved = { ...start, column: start.column + least, byte: start.byte + least, offset: start.offset + least };
    token.range = { ...token.range, start: moved };
  }
}

function joinTexts(tokens: readonly TemplateToken[]): TemplateToken[] {
  const joined: TemplateToken[] = [];
  for (const token of tokens) {
    const previous = joined.at(-1);
    if (token.kind === "text" && previous?.kind === "text") {
      previous.text += token.text;
      previous.range = { ...previous.range, end: token.range.end };
    } else joined.push(token);
  }
  return joined;
}
