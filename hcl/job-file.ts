import { type DeclaredVariable, declaredVariables, type UsedVariable, usedVariables } from "./declarations.ts";
import { findForeignTemplate } from "./foreign-template.ts";
import { jsonBlocks } from "./json-blocks.ts";
import { looksLikeJson, parseJsonBody } from "./json-syntax.ts";
import type { HclParser } from "./parser.ts";
import { type FileProblem, problemAt, problemOf } from "./problem.ts";
import type { Block, Body, Diagnostic, SourceRange } from "./syntax.ts";
import { literalString } from "./walk.ts";

/** A key of the job's `meta`, where it stands and its value as far as it is a plain string. */
export interface MetaKey {
  readonly name: string;
  readonly range: SourceRange;
  readonly value: string | undefined;
}

/** What a file says about its job without evaluation. */
export interface JobOutline {
  readonly format: "hcl" | "hcl_json";
  /** The label of the job block: ID and name unless the block sets them. */
  readonly name: string;
  readonly nameRange: SourceRange;
  readonly block: Block;
  readonly body: Body;
  readonly meta: readonly MetaKey[];
  readonly variables: readonly DeclaredVariable[];
  readonly used: readonly UsedVariable[];
}

/** What a file is to nops (design D27). */
export type FileClass =
  | { readonly kind: "job"; readonly outline: JobOutline }
  /** Something without a job: passed over silently. */
  | { readonly kind: "other" }
  /** Written for another tool; `tool` names it. */
  | { readonly kind: "foreign"; readonly tool: string; readonly problem: FileProblem; readonly jobNames: readonly string[] }
  /** Meant to be a job, but cannot be read. */
  | { readonly kind: "broken"; readonly problems: readonly FileProblem[]; readonly jobNames: readonly string[] }
  /** More than one job block: Nomad refuses it. */
  | { readonly kind: "several"; readonly problems: readonly FileProblem[]; readonly jobNames: readonly string[] };

const BESIDE_A_JOB = new Set(["job", "variable", "variables", "locals"]);
const JOB_LINE = /^[ \t]*"?job"?[ \t]+(?:"([^"\n]*)"|([A-Za-z_][\w-]*))[ \t]*\{/m;
const JOB_ENDING = /\.(?:nomad|nomad\.hcl|job)$/;

/** Says what a text file is, by its content; the path only decides whether a broken file without any job is worth a word. */
export function classifyFile(text: string, path: string, parser: HclParser): FileClass {
  // Most files beside jobs never say the word: they are not worth a parse.
  if (!/\bjob\b/.test(text) && !JOB_ENDING.test(path)) return { kind: "other" };
  if (looksLikeJson(text)) return classifyJson(text, path, parser);
  const { body, diagnostics } = parser.parse(text, path);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const guessed = JOB_LINE.exec(text);
  const jobs = body.blocks.filter(({ type }) => type === "job");
  const names = jobs.flatMap(({ labels }) => labels.slice(0, 1));
  const isMeantAsJob = jobs.length > 0 || guessed !== null;
  if (!isMeantAsJob && (errors.length === 0 || !JOB_ENDING.test(path))) return { kind: "other" };
  const jobNames = names.length > 0 ? names : [guessed?.[1] ?? guessed?.[2] ?? []].flat();
  const foreign = findForeignTemplate(text, path, errors.length === 0);
  if (foreign !== undefined) {
    const problem: FileProblem = { severity: "error", file: path, line: foreign.line, message: foreign.message };
    return { kind: "foreign", tool: foreign.tool, problem, jobNames };
  }
  if (errors.length > 0) return broken(errors, path, jobNames);
  return classifyBody(body, "hcl", path);
}

function broken(errors: readonly Diagnostic[], path: string, jobNames: readonly string[]): FileClass {
  return { kind: "broken", problems: errors.map((error) => problemOf(error, path)), jobNames };
}

/** HCL in JSON: `{"job": {"name": {…}}}`. The API form of a job is somebody else's affair. */
function classifyJson(text: string, path: string, parser: HclParser): FileClass {
  const { body, diagnostics } = parseJsonBody(text, path, parser);
  const blocks = jsonBlocks(body);
  const jobs = blocks.filter(({ type }) => type === "job");
  if (jobs.length === 0 || isApiForm(body)) return { kind: "other" };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0)
    return broken(
      errors,
      path,
      jobs.flatMap(({ labels }) => labels),
    );
  return classifyBody(
    { ...body, attributes: body.attributes.filter(({ name }) => !BESIDE_A_JOB.has(name)), blocks },
    "hcl_json",
    path,
  );
}

/** The API form (`{"job": {"ID": …}}`, `{"Job": …}`) names its fields where the job specification has the job's name. */
function isApiForm(body: Body): boolean {
  const job = body.attributes.find(({ name }) => name === "job")?.expression;
  return (
    job?.kind === "object" && job.items.some(({ keyName }) => keyName === "ID" || keyName === "Name" || keyName === "TaskGroups")
  );
}

function classifyBody(body: Body, format: JobOutline["format"], path: string): FileClass {
  const jobs = body.blocks.filter(({ type }) => type === "job");
  const jobNames = jobs.flatMap(({ labels }) => labels.slice(0, 1));
  const [job, second] = jobs;
  if (job === undefined) return { kind: "other" };
  if (second !== undefined) {
    const first = `${path}:${job.typeRange.start.line}`;
    const message = `a file may hold one job, this one holds ${jobs.length} (${jobNames.join(", ")}); the first is at ${first}`;
    return { kind: "several", problems: [problemAt(second.headerRange, message)], jobNames };
  }
  const problems = topLevelProblems(body, job);
  const [name] = job.labels;
  const nameRange = job.labelRanges[0];
  if (name === undefined || nameRange === undefined || problems.length > 0) return { kind: "broken", problems, jobNames };
  const outline: JobOutline = {
    format,
    name,
    nameRange,
    block: job,
    body,
    meta: metaOf(job),
    variables: declaredVariables(body),
    used: usedVariables(body),
  };
  return { kind: "job", outline };
}

function topLevelProblems(body: Body, job: Block): FileProblem[] {
  const problems = body.blocks
    .filter(({ type }) => !BESIDE_A_JOB.has(type))
    .map((block) => problemAt(block.typeRange, `Unsupported block type; Blocks of type "${block.type}" are not expected here.`));
  for (const attribute of body.attributes) {
    problems.push(
      problemAt(attribute.nameRange, `Unsupported argument; An argument named "${attribute.name}" is not expected here.`),
    );
  }
  if (job.labels.length === 0)
    problems.push(problemAt(job.typeRange, "Missing name for job; All job blocks must have 1 labels (name)."));
  const extra = job.labelRanges[1];
  if (extra !== undefined)
    problems.push(problemAt(extra, "Extraneous label for job; Only 1 labels (name) are expected for job blocks."));
  return problems;
}

/** Keys of `meta { … }` and `meta = { … }` at job level. */
function metaOf(job: Block): MetaKey[] {
  const fromBlocks = job.body.blocks
    .filter(({ type, labels }) => type === "meta" && labels.length === 0)
    .flatMap(({ body }) => body.attributes)
    .map(({ name, nameRange, expression }) => ({ name, range: nameRange, value: literalString(expression) }));
  const attribute = job.body.attributes.find(({ name }) => name === "meta");
  if (attribute?.expression.kind !== "object") return fromBlocks;
  const fromObject = attribute.expression.items.flatMap((item) => {
    const name = item.keyName ?? literalString(item.key);
    return name === undefined ? [] : [{ name, range: item.key.range, value: literalString(item.value) }];
  });
  return [...fromBlocks, ...fromObject];
}

/** The line of a key of the job's meta, from 1; of the meta itself or the job when the key is not written out. */
export function metaLine(outline: JobOutline, key: string): number {
  const found = outline.meta.find(({ name }) => name === key);
  if (found !== undefined) return found.range.start.line;
  const block = outline.block.body.blocks.find(({ type }) => type === "meta");
  const attribute = outline.block.body.attributes.find(({ name }) => name === "meta");
  return (block?.typeRange ?? attribute?.nameRange ?? outline.block.typeRange).start.line;
}
