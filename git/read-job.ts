import { createHash } from "node:crypto";
import { type CommitFiles, inlineFiles } from "../hcl/inline-files.ts";
import { classifyFile, type JobOutline, metaLine } from "../hcl/job-file.ts";
import type { HclParser } from "../hcl/parser.ts";
import { mergeVariables, type VariableFile } from "../hcl/variables.ts";
import { literalString } from "../hcl/walk.ts";
import type { FileIssue, JobFile } from "../model/desired.ts";
import { readApiJson } from "./api-json.ts";
import { isNamedAsJob } from "./file-rules.ts";
import { type JobRules, outerValues, type SharedValues } from "./job-rules.ts";

/** What became of one file. */
export type ReadOutcome =
  | { readonly kind: "job"; readonly job: JobFile }
  /** Looks like a job but cannot be used; at least one error. */
  | { readonly kind: "broken"; readonly issues: readonly FileIssue[] }
  | { readonly kind: "passed_over"; readonly warning: FileIssue }
  | { readonly kind: "other" };

export interface ReadJob {
  readonly outcome: ReadOutcome;
  /** Names of the variables it declares. */
  readonly declared: readonly string[];
  /** Paths in the repository whose content or absence went into the source. */
  readonly dependencies: readonly string[];
}

export interface JobSurroundings {
  readonly rules: JobRules;
  readonly parser: HclParser;
  readonly shared: SharedValues;
  /** The file of values beside the job file. */
  readonly own: VariableFile | undefined;
  readonly commit: CommitFiles;
}

const other: ReadJob = { outcome: { kind: "other" }, declared: [], dependencies: [] };

/** Cheap and never wrong on the no side: a text without the word holds no job block and no API JSON. */
const mayHoldJob = /job|"TaskGroups"/;

/** Makes a job file of a text, or says why not. Pure. */
export function readJob(text: string, path: string, around: JobSurroundings): ReadJob {
  if (text.startsWith("version https://git-lfs.github.com/spec/")) return largeFilePointer(path);
  if (!mayHoldJob.test(text) && !isNamedAsJob(path)) return other;
  const found = classifyFile(text, path, around.parser);
  if (found.kind === "job") return hclJob(text, path, found.outline, around);
  if (found.kind === "foreign") return brokenJob([found.problem]);
  if (found.kind === "broken" || found.kind === "several") return brokenJob(found.problems);
  return /^\s*\{/.test(text) ? apiJob(text, path) : other;
}

function brokenJob(issues: readonly FileIssue[], rest: Partial<ReadJob> = {}): ReadJob {
  return { ...other, ...rest, outcome: { kind: "broken", issues } };
}

function largeFilePointer(path: string): ReadJob {
  const message = "is a pointer of Git LFS, whose content git does not hold; commit the file itself";
  if (isNamedAsJob(path)) return brokenJob([{ severity: "error", file: path, message }]);
  return {
    ...other,
    outcome: { kind: "passed_over", warning: { severity: "warn", file: path, message: `passed over: ${message}` } },
  };
}

function apiJob(text: string, path: string): ReadJob {
  const api = readApiJson(text, path, isNamedAsJob(path));
  if (api.kind === "other") return other;
  if (api.kind === "broken") return brokenJob([api.issue]);
  const variables = { variables: "", publicVariables: "" };
  return {
    ...other,
    outcome: {
      kind: "job",
      job: jobFile({ path, format: "json", source: api.source, original: text, jobName: api.id, issues: [], ...variables }),
    },
  };
}

function hclJob(text: string, path: string, outline: JobOutline, around: JobSurroundings): ReadJob {
  const { rules, parser, shared, own } = around;
  const outer = outerValues(rules, outline.variables, parser);
  const beside = own === undefined ? [] : [{ assignments: own.assignments, shared: false }];
  const merged = mergeVariables(outline.variables, [...shared.sources, ...beside, ...outer.sources], path);
  const inlined = inlineFiles(text, outline.body, path, around.commit);
  const issues = [...(own?.problems ?? []), ...outer.problems, ...merged.problems, ...inlined.problems];
  const rest = { declared: outline.variables.map(({ name }) => name), dependencies: inlined.files };
  if (issues.some(({ severity }) => severity === "error")) return brokenJob(issues, rest);
  const job = jobFile({
    path,
    format: "hcl2",
    source: inlined.text,
    original: text,
    variables: merged.text,
    publicVariables: merged.publicText,
    metaLines: metaLines(outline),
    jobName: jobId(outline),
    issues,
  });
  return { ...rest, outcome: { kind: "job", job } };
}

function metaLines(outline: JobOutline): Record<string, number> {
  const names = outline.meta.map(({ name }) => name).filter((name) => name.startsWith("nops_"));
  return Object.fromEntries(["", ...names].map((name) => [name, metaLine(outline, name)]));
}

/** The block's own `id` wins over its label; one that must be evaluated is not known here. */
function jobId({ name, block }: JobOutline): string | undefined {
  const id = block.body.attributes.find((attribute) => attribute.name === "id");
  return id === undefined ? name : literalString(id.expression);
}

function jobFile(file: Omit<JobFile, "contentHash">): JobFile {
  const content = JSON.stringify([file.format, file.source, file.variables]);
  return { ...file, contentHash: createHash("sha256").update(content).digest("hex") };
}
