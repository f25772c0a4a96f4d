import { nomadFunctions } from "../../hcl/functions/table.ts";
import { looksLikeJson, parseJsonBody } from "../../hcl/json-syntax.ts";
import type { HclParser } from "../../hcl/parser.ts";
import { keepReferences, type Scope } from "../../hcl/scope.ts";
import type { Diagnostic } from "../../hcl/syntax.ts";
import { formatDiagnostic, formatDiagnostics } from "../../hcl/syntax.ts";
import { objectValue, type Value } from "../../hcl/value.ts";
import { type BodySchema, type BodySource, nativeSource, type RawBlock } from "./body-view.ts";
import { canonicalizeInPlace } from "./canonicalize.ts";
import { decodeJob } from "./decode-job.ts";
import { evaluateFreeForm } from "./free-form.ts";
import { collectLocals, evaluateLocals } from "./job-locals.ts";
import { assignVariables, declareVariables, variablesObject } from "./job-variables.ts";
import { jsonSource, objectOfBody } from "./json-body.ts";
import { normalizeJob } from "./normalize.ts";
import { type ApiJob, ParseFailure } from "./types.ts";

const FILENAME = "input.hcl";
const FUNCTIONS = nomadFunctions();

export interface ParseInput {
  /** The job file, HCL or HCL in JSON. */
  readonly hcl: string;
  /** The content of a variable file, "" for none. */
  readonly variables: string;
  readonly canonicalize: boolean;
}

/**
 * What `/v1/jobs/parse` answers (nomad-api §1): the job in the client's form, unset fields null.
 * Throws ParseFailure whose message is the whole text of the 400 answer.
 */
export function parseJob(input: ParseInput, parser: HclParser): ApiJob {
  if (input.hcl === "") throw new ParseFailure("Job spec is empty");
  const file = readText(input.hcl, parser);
  const values = input.variables === "" ? undefined : readText(input.variables, parser);
  if (values !== undefined && hasErrors(values.diagnostics)) {
    throw failure(`unable to parse var content: ${formatDiagnostics(values.diagnostics)}`);
  }
  if (hasErrors(file.diagnostics)) throw failure(formatDiagnostics(file.diagnostics));
  const job = decodeFile(input.hcl, file.source, values?.source);
  if (input.canonicalize) canonicalizeInPlace(job);
  return job;
}

function failure(text: string): ParseFailure {
  return new ParseFailure(`Failed to parse job: ${text}`);
}

function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((d) => d.severity === "error");
}

function readText(text: string, parser: HclParser): { readonly source: BodySource; readonly diagnostics: readonly Diagnostic[] } {
  if (looksLikeJson(text)) {
    // Without the parser strings stay as they are: which of them are templates shows later.
    const { body, diagnostics } = parseJsonBody(text, FILENAME);
    return { source: jsonSource(objectOfBody(body), parser), diagnostics };
  }
  const { body, diagnostics } = parser.parse(text, FILENAME);
  return { source: nativeSource(body), diagnostics };
}

const FILE: BodySchema = {
  attributes: [],
  blocks: [
    { type: "variables", labels: [] },
    { type: "variable", labels: ["name"] },
    { type: "locals", labels: [] },
    { type: "job", labels: ["name"] },
  ],
};

function decodeFile(text: string, file: BodySource, values: BodySource | undefined): ApiJob {
  const diagnostics: Diagnostic[] = [];
  const { blocks } = file.content(FILE, false, diagnostics);
  refuse(diagnostics);
  const scope = fileScope(text, blocks, values, diagnostics);
  refuse(diagnostics);
  const { job, extras, label } = decodeJob(blocks, scope, diagnostics);
  refuse(diagnostics);
  for (const part of [job, extras.tasks, extras.vault, extras.secrets]) evaluateFreeForm(part, diagnostics);
  if (hasErrors(diagnostics)) throw failure(formatDiagnostics(diagnostics));
  normalizeJob(job, extras, label);
  return job;
}

/** At this stage Nomad tells each problem on a line of its own. */
function refuse(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw failure(diagnostics.map(formatDiagnostic).join("\n"));
}

function fileScope(text: string, blocks: readonly RawBlock[], values: BodySource | undefined, diagnostics: Diagnostic[]): Scope {
  const functions = FUNCTIONS;
  const variables = declareVariables(blocks, diagnostics);
  const locals = collectLocals(blocks, diagnostics);
  if (values !== undefined) diagnostics.push(...assignVariables(variables, values));
  const given = variablesObject(variables, functions, diagnostics);
  const unresolved = keepReferences(text);
  const scopeWith = (local: Value): Scope => ({
    variables: new Map([
      ["var", given],
      ["local", local],
    ]),
    functions,
    unresolved,
  });
  return scopeWith(locals.length === 0 ? objectValue([]) : evaluateLocals(locals, scopeWith, diagnostics));
}
