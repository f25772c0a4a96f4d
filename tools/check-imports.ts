/**
 * Checks the import ranks of the architecture (docs/architecture.md): a folder may import only what its row lists,
 * type-only imports included; controllers never import each other; nothing forms a cycle. Exits 1 and names every
 * edge that breaks a rule.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder → folders it may import beside its own. `api/contract` is the part of `api/` that the dashboard knows. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  model: [],
  hcl: [],
  plan: ["model"],
  queue: ["model"],
  nomad: ["model"],
  git: ["model", "hcl"],
  store: ["model"],
  telemetry: ["model"],
  controllers: ["model", "plan", "queue"],
  workspace: ["model", "plan"],
  api: ["model"],
  dashboard: ["api/contract"],
  simulator: ["model", "hcl"],
  cmd: ["model", "hcl", "plan", "queue", "nomad", "git", "store", "telemetry", "controllers", "workspace", "api", "simulator"],
};

/** Folders that check or exercise the rest may import anything. */
const unranked = new Set(["testkit", "e2e", "tools"]);

export interface Edge {
  readonly from: string;
  readonly to: string;
}

const importPattern = /(?:^|\n)\s*(?:import|export)\s(?:[^"';]*?\sfrom\s)?["'](\.[^"']+)["']|import\(\s*["'](\.[^"']+)["']\s*\)/g;

/** Every relative import of a source text, resolved to a path from the repository root. */
export function importsOf(file: string, text: string): string[] {
  const found: string[] = [];
  for (const match of text.matchAll(importPattern)) {
    const target = match[1] ?? match[2];
    if (target !== undefined) found.push(normalize(join(dirname(file), target)));
  }
  return found;
}

/** Why an edge is not allowed, or `undefined` when it is. Tests may import test helpers and anything of a lower rank. */
export function refusal({ from, to }: Edge): string | undefined {
  const fromFolder = topFolder(from);
  const toFolder = topFolder(to);
  if (unranked.has(fromFolder)) return undefined;
  if (isTest(from)) return undefined;
  if (unranked.has(toFolder)) return `${toFolder}/ is for tests and checks only`;
  if (fromFolder === toFolder) return undefined;
  const allowed = mayImport[fromFolder];
  if (allowed === undefined) return `${fromFolder}/ has no row in the table of ranks`;
  if (allowed.some((entry) => toFolder === entry || to.startsWith(`${entry}/`) || to.startsWith(`${entry}.`))) return undefined;
  return `${fromFolder}/ may import ${allowed.length === 0 ? "nothing" : allowed.join(", ")}`;
}

/** Import cycles between files, each as the list of files on it. Empty when there is none. */
export function cycles(edges: readonly Edge[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const state = new Map<string, "open" | "done">();
  const found: string[][] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      found.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    state.set(file, "open");
    for (const target of next.get(file) ?? []) visit(target, [...path, file]);
    state.set(file, "done");
  };
  for (const file of next.keys()) visit(file, []);
  return found;
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file);
}

function topFolder(path: string): string {
  return path.split("/")[0] ?? path;
}

/** Paths of all TypeScript sources below the ranked and unranked folders, from the repository root. */
export function sourceFiles(root: string): string[] {
  return [...Object.keys(mayImport), ...unranked].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
      .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path)),
  );
}

function main(): void {
  const root = process.cwd();
  const files = sourceFiles(root);
  const edges = files.flatMap((from) => importsOf(from, readFileSync(join(root, from), "utf8")).map((to) => ({ from, to })));
  const problems = [
    ...edges.flatMap((edge) => {
      const why = refusal(edge);
      return why === undefined ? [] : [`${edge.from} → ${edge.to}: ${why}`];
    }),
    ...cycles(edges).map((path) => `cycle: ${path.join(" → ")}`),
  ];
  for (const problem of problems) console.error(problem);
  console.log(`imports: ${files.length} files, ${edges.length} edges, ${problems.length} broken`);
  if (problems.length > 0 || files.length === 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
