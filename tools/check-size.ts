/**
 * Checks the size budget (docs/architecture.md): files of at most 400 lines with a median of at most 130, functions of
 * at most 60 lines. Tests and migrations may be longer than the median allows but not than the cap. Exits 1 on a breach.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { sourceFiles } from "./check-imports.ts";

export const maxFileLines = 400;
export const maxMedianLines = 130;
export const maxFunctionLines = 60;

export interface LongFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/** Functions and methods of a source that are longer than the budget. Test suites' callbacks do not count. */
export function longFunctions(file: string, text: string): LongFunction[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: LongFunction[] = [];
  const visit = (node: ts.Node): void => {
    if (isNamedFunction(node)) {
      const start = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const lines = source.getLineAndCharacterOfPosition(node.end).line - start + 1;
      if (lines > maxFunctionLines) found.push({ name: nameOf(node), line: start + 1, lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

type NamedFunction =
  | ts.FunctionDeclaration
  | ts.MethodDeclaration
  | ts.ConstructorDeclaration
  | ts.FunctionExpression
  | ts.ArrowFunction;

function isNamedFunction(node: ts.Node): node is NamedFunction {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node)) return true;
  return (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) && ts.isVariableDeclaration(node.parent);
}

function nameOf(node: NamedFunction): string {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (node.name !== undefined) return node.name.getText();
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : "anonymous";
}

/** The middle value; 0 for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function main(): void {
  const root = process.cwd();
  const problems: string[] = [];
  const lengths: number[] = [];
  for (const file of sourceFiles(root)) {
    const text = readFileSync(join(root, file), "utf8");
    const lines = text.split("\n").length - 1;
    lengths.push(lines);
    if (lines > maxFileLines) problems.push(`${file}: ${lines} lines, at most ${maxFileLines}`);
    for (const long of longFunctions(file, text))
      problems.push(`${file}:${long.line} ${long.name}: ${long.lines} lines, at most ${maxFunctionLines}`);
  }
  const middle = median(lengths);
  if (middle > maxMedianLines) problems.push(`median of ${middle} lines a file, at most ${maxMedianLines}`);
  for (const problem of problems) console.error(problem);
  console.log(
    `sizes: ${lengths.length} files, median ${middle} lines, longest ${Math.max(0, ...lengths)}, ${problems.length} over budget`,
  );
  if (problems.length > 0 || lengths.length === 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
