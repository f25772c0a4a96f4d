import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Language, type Node, Parser, type Tree } from "web-tree-sitter";
import { checkFile, checkLoneExpression, checkLoneTemplate } from "./check-syntax.ts";
import { grammarText } from "./grammar-text.ts";
import { type Token, tokenize, tokenizeTemplate } from "./lexer.ts";
import { BEGINNING, LineMap } from "./line-map.ts";
import { readBody } from "./read-body.ts";
import { readExpression } from "./read-expression.ts";
import type { Body, Diagnostic, Expression, Position } from "./syntax.ts";
import { childOf, report, type TreeContext } from "./tree-context.ts";

/** A text read as HCL2. */
export interface ParsedHcl {
  /** What could be read; with errors among the diagnostics it may have holes. */
  readonly body: Body;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads HCL2 (design D26). */
export interface HclParser {
  /**
   * Reads a whole file. Synchronous; never throws, whatever the text holds; keeps nothing outside the JavaScript heap.
   * `filename` only goes into the ranges.
   */
  parse(text: string, filename: string): ParsedHcl;
  /** Reads a single expression, under the same promises. `start`: where it begins, when it is part of another text. */
  parseExpression(text: string, filename: string, start?: Position): ParsedExpression;
  /**
   * Reads a text with `${…}` and `%{…}`, as a string of a JSON document is one, under the same promises. As in Nomad places are
   * counted in the text itself, from `start` on: an escape of the document is as wide as what it stands for.
   */
  parseTemplate(text: string, filename: string, start: Position): ParsedExpression;
}

/** A text read as one expression. */
export interface ParsedExpression {
  readonly expression: Expression;
  readonly diagnostics: readonly Diagnostic[];
}

let loading: Promise<HclParser> | undefined;

/** Loads the grammar once per thread (about 20 ms) and hands out the one parser. */
export function loadHclParser(): Promise<HclParser> {
  loading ??= load();
  return loading;
}

async function load(): Promise<HclParser> {
  await Parser.init();
  const language = await Language.load(grammarPath());
  const parser = new Parser();
  parser.setLanguage(language);
  return {
    parse: (text, filename) => parseText(parser, text, filename),
    parseExpression: (text, filename, start) => parseExpression(parser, text, filename, start),
    parseTemplate: (text, filename, start) => parseTemplate(parser, text, filename, start),
  };
}

/** A built tree has the grammar beside this module; sources take it from the package. */
function grammarPath(): string {
  const beside = fileURLToPath(new URL("./tree-sitter-hcl.wasm", import.meta.url));
  if (existsSync(beside)) return beside;
  return fileURLToPath(import.meta.resolve("@tree-sitter-grammars/tree-sitter-hcl/tree-sitter-hcl.wasm"));
}

function treeContext(text: string, lines: LineMap, diagnostics: Diagnostic[]): TreeContext {
  const context: TreeContext = {
    text,
    lines,
    diagnostics,
    readExpression: (node, depth) => readExpression(context, node, depth),
  };
  return context;
}

const BYTE_ORDER_MARK = "\ufeff";
const AFTER_MARK: Position = { ...BEGINNING, byte: 3 };

function parseText(parser: Parser, original: string, filename: string): ParsedHcl {
  const marked = original.startsWith(BYTE_ORDER_MARK);
  const text = marked ? original.slice(1) : original;
  const lines = new LineMap(text, filename, marked ? AFTER_MARK : BEGINNING);
  const tokens = tokenize(text);
  const context = treeContext(text, lines, checkFile(tokens, lines));
  return { body: readTree(parser, context, tokens), diagnostics: context.diagnostics };
}

/** An expression is read as the value of an argument, whose name the positions do not count. */
const ARGUMENT = "x = (";

function parseExpression(parser: Parser, original: string, filename: string, start?: Position): ParsedExpression {
  const text = `${ARGUMENT}${original}\n)\n`;
  const lines = new LineMap(original, filename, start, ARGUMENT.length);
  const problems = checkLoneExpression(tokenize(original), new LineMap(original, filename, start));
  const context = treeContext(text, lines, problems);
  const body = readTree(parser, context, tokenize(text));
  const [attribute] = body.attributes;
  const outer = attribute?.expression;
  const expression: Expression =
    outer?.kind === "parentheses" ? outer.expression : { kind: "invalid", range: lines.range(0, text.length) };
  return { expression, diagnostics: context.diagnostics };
}

/** A template is read as a heredoc, which knows no other escapes than those of templates. */
function parseTemplate(parser: Parser, original: string, filename: string, start: Position): ParsedExpression {
  let marker = "EOT";
  while (original.includes(marker)) marker += "_";
  const prefix = `x = <<${marker}\n`;
  const text = `${prefix}${original}\n${marker}\n`;
  const lines = new LineMap(original, filename, start, prefix.length);
  const problems = checkLoneTemplate(tokenizeTemplate(original), new LineMap(original, filename, start));
  const context = treeContext(text, lines, problems);
  const [attribute] = readTree(parser, context, tokenize(text)).attributes;
  const expression: Expression = attribute?.expression ?? { kind: "invalid", range: lines.range(0, text.length) };
  return { expression: withoutLastNewline(expression), diagnostics: context.diagnostics };
}

/** The line break before the closing marker is not part of the text. */
function withoutLastNewline(expression: Expression): Expression {
  if (expression.kind !== "template") return expression;
  const last = expression.parts.at(-1);
  if (last?.kind !== "text" || !last.text.endsWith("\n")) return expression;
  const text = last.text.slice(0, -1);
  const before = expression.parts.slice(0, -1);
  const parts = text === "" && before.length > 0 ? before : [...before, { ...last, text }];
  return { ...expression, form: "quoted", parts, wrapsOne: parts.length === 1 && parts[0]?.kind === "interpolation" };
}

/** Reads the tree of the grammar, whose nodes live outside the JavaScript heap, and frees it. */
function readTree(parser: Parser, context: TreeContext, tokens: readonly Token[]): Body {
  const { text, lines } = context;
  let tree: Tree | null = null;
  try {
    tree = parser.parse(grammarText(text, tokens));
    const root = tree?.rootNode;
    const body = readBody(context, root === undefined ? undefined : bodyOf(root), 0, text.length, 0);
    if (root?.hasError !== false && context.diagnostics.length === 0) reportUnreadable(context);
    return body;
  } catch (error) {
    // The grammar ran out of memory, or the reader out of stack: the file is too much, the program goes on.
    if (!(error instanceof RangeError) && !(error instanceof Error && error.name === "RuntimeError")) throw error;
    reportUnreadable(context);
    return { attributes: [], blocks: [], range: lines.range(0, text.length), endRange: lines.range(text.length, text.length) };
  } finally {
    tree?.delete();
  }
}

function reportUnreadable(context: TreeContext): void {
  const detail = "The file is too large, or nested or written in a way that nops cannot read.";
  report(context, context.lines.range(0, 0), "Unreadable syntax", detail);
}

function bodyOf(root: Node): Node {
  return childOf(root, "body") ?? root;
}
