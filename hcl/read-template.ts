import type { Node } from "web-tree-sitter";
import type { Expression, TemplateExpression, TemplatePart } from "./syntax.ts";
import { type TemplateExtent, type TemplateToken, templateTokens } from "./template-tokens.ts";
import { childOf, rangeOf, type TreeContext } from "./tree-context.ts";

/** Reads a quoted string, a quoted template or a heredoc. */
export function readTemplate(context: TreeContext, node: Node, depth: number): Expression {
  const extent = node.type === "heredoc_template" ? heredocExtent(context, node) : quotedExtent(node);
  const range = rangeOf(context, node);
  if (extent === undefined) return { kind: "invalid", range };
  const tokens = templateTokens(context, extent);
  const reader = new TemplateReader(context, tokens, depth);
  const parts = reader.readAll();
  if (parts.length === 0) {
    // An empty string still has a text, which HCL places behind the closing quote.
    const place = extent.form === "quoted" ? node.endIndex : extent.end;
    parts.push({ kind: "text", text: "", range: context.lines.range(place, place) });
  }
  const expression: TemplateExpression = {
    kind: "template",
    form: extent.form,
    parts,
    wrapsOne: parts.length === 1 && parts[0]?.kind === "interpolation",
    range,
  };
  return expression;
}

function quotedExtent(node: Node): TemplateExtent | undefined {
  const close = childOf(node, "quoted_template_end");
  if (close === undefined) return undefined;
  return { node, start: node.startIndex + 1, end: close.startIndex, form: "quoted" };
}

/** The content of a heredoc: from the line after the opening marker to the line of the closing one. */
function heredocExtent(context: TreeContext, node: Node): TemplateExtent | undefined {
  const [open, close] = node.children.filter((child) => child.type === "heredoc_identifier");
  const marker = childOf(node, "heredoc_start");
  if (open === undefined || close === undefined || marker === undefined) return undefined;
  const newline = context.text.indexOf("\n", open.endIndex);
  const start = newline === -1 ? open.endIndex : newline + 1;
  const end = Math.max(start, context.text.lastIndexOf("\n", close.startIndex) + 1);
  const indented = context.text.slice(marker.startIndex, marker.endIndex) === "<<-";
  return { node, start, end, form: indented ? "indented_heredoc" : "heredoc" };
}

type Directive = "interpolation" | "if" | "else" | "endif" | "for" | "endfor";

const DIRECTIVES: Readonly<Record<string, Directive>> = {
  template_interpolation: "interpolation",
  template_if_intro: "if",
  template_else_intro: "else",
  template_if_end: "endif",
  template_for_start: "for",
  template_for_end: "endfor",
};

/** Builds the nested parts from the flat tokens. */
class TemplateReader {
  readonly #context: TreeContext;
  readonly #tokens: readonly TemplateToken[];
  readonly #depth: number;
  #at = 0;

  constructor(context: TreeContext, tokens: readonly TemplateToken[], depth: number) {
    this.#context = context;
    this.#tokens = tokens;
    this.#depth = depth;
  }

  readAll(): TemplatePart[] {
    const parts: TemplatePart[] = [];
    while (this.#at < this.#tokens.length) {
      parts.push(...this.#readUntil(new Set()));
      // A directive without its partner was reported before.
      if (this.#at < this.#tokens.length) this.#at += 1;
    }
    return parts;
  }

  #directive(token: TemplateToken): Directive | undefined {
    return token.kind === "marker" ? DIRECTIVES[token.node.type] : undefined;
  }

  /** Reads parts up to a directive of the set, or one that belongs to somebody else. */
  #readUntil(stops: ReadonlySet<Directive>): TemplatePart[] {
    const parts: TemplatePart[] = [];
    for (let token = this.#tokens[this.#at]; token !== undefined; token = this.#tokens[this.#at]) {
      if (token.kind === "text") {
        parts.push({ kind: "text", text: token.text, range: token.range });
        this.#at += 1;
        continue;
      }
      const directive = this.#directive(token);
      if (directive === undefined || stops.has(directive)) return parts;
      if (directive === "interpolation") parts.push(this.#readInterpolation(token.node));
      else if (directive === "if") parts.push(this.#readIf(token.node));
      else if (directive === "for") parts.push(this.#readFor(token.node));
      else return parts;
    }
    return parts;
  }

  #expression(node: Node): Expression {
    const inner = childOf(node, "expression");
    if (inner !== undefined) return this.#context.readExpression(inner, this.#depth + 1);
    return { kind: "invalid", range: rangeOf(this.#context, node) };
  }

  #readInterpolation(node: Node): TemplatePart {
    this.#at += 1;
    return { kind: "interpolation", expression: this.#expression(node), range: rangeOf(this.#context, node) };
  }

  #readIf(node: Node): TemplatePart {
    this.#at += 1;
    const condition = this.#expression(node);
    const whenTrue = this.#readUntil(new Set(["else", "endif"]));
    let whenFalse: TemplatePart[] = [];
    if (this.#take("else") !== undefined) whenFalse = this.#readUntil(new Set(["endif"]));
    const end = this.#take("endif") ?? node;
    return { kind: "if", condition, whenTrue, whenFalse, range: this.#context.lines.range(node.startIndex, end.endIndex) };
  }

  #readFor(node: Node): TemplatePart {
    this.#at += 1;
    const names = node.children.filter((child) => child.type === "identifier");
    const [first] = names;
    const collection = this.#expression(node);
    const body = this.#readUntil(new Set(["endfor"]));
    const end = this.#take("endfor") ?? node;
    return {
      kind: "for",
      ...(names.length > 1 && first !== undefined ? { keyName: first.text } : {}),
      valueName: names.at(-1)?.text ?? "",
      collection,
      body,
      range: this.#context.lines.range(node.startIndex, end.endIndex),
    };
  }

  #take(directive: Directive): Node | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "marker" || this.#directive(token) !== directive) return undefined;
    this.#at += 1;
    return token.node;
  }
}
