import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Language, type Node, Parser } from "web-tree-sitter";
import { LineMap } from "./line-map.ts";
import { readBody } from "./read-body.ts";
import type { Body, Diagnostic } from "./syntax.ts";
import { childOf, type TreeContext } from "./tree-context.ts";

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
  return { parse: (text, filename) => parseText(parser, text, filename) };
}

/** A built tree has the grammar beside this module; sources take it from the package. */
function grammarPath(): string {
  const beside = fileURLToPath(new URL("./tree-sitter-hcl.wasm", import.meta.url));
  if (existsSync(beside)) return beside;
  return fileURLToPath(import.meta.resolve("@tree-sitter-grammars/tree-sitter-hcl/tree-sitter-hcl.wasm"));
}

const BYTE_ORDER_MARK = "\ufeff";

function parseText(parser: Parser, original: string, filename: string): ParsedHcl {
  const marked = original.startsWith(BYTE_ORDER_MARK);
  const text = marked ? original.slice(1) : original;
  const lines = new LineMap(text, filename, marked ? 3 : 0);
  const context: TreeContext = { text, lines, diagnostics: [] };
  const tree = parser.parse(text);
  try {
    const root = tree?.rootNode;
    const body = readBody(context, root === undefined ? undefined : bodyOf(root), 0, text.length, 0);
    if (root?.hasError === true) {
      context.diagnostics.push({ severity: "error", summary: "Invalid syntax", detail: "", range: lines.range(0, 0) });
    }
    return { body, diagnostics: context.diagnostics };
  } finally {
    tree?.delete();
  }
}

function bodyOf(root: Node): Node {
  return childOf(root, "body") ?? root;
}
