import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readApiJson } from "../../git/api-json.ts";
import { type CommitFiles, inlineFiles } from "../../hcl/inline-files.ts";
import { classifyFile } from "../../hcl/job-file.ts";
import { type HclParser, loadHclParser } from "../../hcl/parser.ts";
import { configuredVariables, mergeVariables, parseVariableFile, type VariableSource } from "../../hcl/variables.ts";
import type { FileIssue } from "../../model/desired.ts";
import { InvalidRequestError } from "../../model/errors.ts";
import type { JobFiles, PreparedJob } from "../../workspace/ports.ts";

type Request = Parameters<JobFiles["prepare"]>[0];

/** Job files through the same front end that the operator uses: `file()` put in place, variables merged (design D26, D28). */
export const hclJobFiles: JobFiles = {
  async prepare(request) {
    const text = readText(request.root, request.file);
    const parser = await loadHclParser();
    const found = classifyFile(text, request.file, parser);
    if (found.kind === "job") return hclJob(request, text, found.outline, parser);
    if (found.kind === "foreign") throw refused([found.problem]);
    if (found.kind === "broken" || found.kind === "several") throw refused(found.problems);
    const api = readApiJson(text, request.file, true);
    if (api.kind === "broken") throw refused([api.issue]);
    if (api.kind === "other") throw refused([{ severity: "error", file: request.file, message: "holds no job" }]);
    return {
      format: "json",
      source: api.source,
      variables: "",
      submission: { source: text, format: "json", variables: "" },
    };
  },
};

function hclJob(
  request: Request,
  text: string,
  outline: Extract<ReturnType<typeof classifyFile>, { kind: "job" }>["outline"],
  parser: HclParser,
): PreparedJob {
  const issues: FileIssue[] = [];
  const sources: VariableSource[] = request.varFiles.map((file) => {
    const read = parseVariableFile(readText(request.root, file), file, parser);
    issues.push(...read.problems);
    return { assignments: read.assignments, shared: false };
  });
  const merged = mergeVariables(
    outline.variables,
    [...sources, { ...configuredVariables(request.vars, "vars of the step or its service"), shared: false }],
    request.file,
  );
  const inlined = inlineFiles(text, outline.body, request.file, checkout(request.root));
  issues.push(...merged.problems, ...inlined.problems);
  const errors = issues.filter((issue) => issue.severity === "error");
  if (errors.length > 0) throw refused(errors);
  return {
    format: "hcl2",
    source: inlined.text,
    variables: merged.text,
    submission: { source: text, format: "hcl2", variables: merged.publicText },
  };
}

/** The checkout in the place of a commit. Its own bookkeeping and git's are no part of it. */
function checkout(root: string): CommitFiles {
  return {
    read: (path) => {
      try {
        return readFileSync(join(root, path));
      } catch {
        return undefined;
      }
    },
    *list() {
      for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name).slice(root.length + 1);
        if (!/^(?:\.git|\.nops|node_modules)\//.test(path)) yield path;
      }
    },
  };
}

function readText(root: string, file: string): string {
  try {
    return readFileSync(join(root, file), "utf8");
  } catch {
    throw refused([{ severity: "error", file, message: "cannot be read" }]);
  }
}

function refused(issues: readonly FileIssue[]): InvalidRequestError {
  const lines = issues.map(({ file, line, message }) => `${file}${line === undefined ? "" : `:${line}`}: ${message}`);
  return new InvalidRequestError(lines.join("\n"), { code: "job_file" });
}
