import { CronError, parseCron } from "./cron.ts";
import { goQuote } from "./go-text.ts";
import type { ServerJob } from "./types.ts";
import { validateAffinities, validateConstraints, validateSpreads } from "./validate-constraint.ts";
import { groupProblem } from "./validate-group.ts";
import { nested } from "./validate-policy.ts";
import { flag, num, type Rec, rec, recs, str, strings } from "./values.ts";

/** What is wrong with a job, in Nomad's order. */
export function jobProblems(job: ServerJob): string[] {
  return [
    ...headProblems(job),
    ...validateConstraints(job),
    ...validateAffinities(job, str(job, "Type")),
    ...validateSpreads(job, str(job, "Type")),
    ...descriptionProblems(job),
    ...groupNameProblems(job),
    ...recs(job, "TaskGroups").flatMap((group) => groupProblem(group, job)),
    ...periodicProblems(job),
    ...parameterizedProblems(job),
    ...(recs(rec(job, "Multiregion"), "Regions").length > 0 ? ["Multiregion jobs are unlicensed."] : []),
  ];
}

const TYPES = new Set(["_core", "service", "batch", "system", "sysbatch"]);

function headProblems(job: ServerJob): string[] {
  const problems: string[] = [];
  const [id, name, type] = [str(job, "ID"), str(job, "Name"), str(job, "Type")];
  if (str(job, "Region") === "" && rec(job, "Multiregion") === undefined) problems.push("Missing job region");
  if (id === "") problems.push("Missing job ID");
  else if (id.includes(" ")) problems.push("Job ID contains a space");
  else if (id.includes("\0")) problems.push("Job ID contains a null character");
  if (name === "") problems.push("Missing job name");
  else if (name.includes("\0")) problems.push("Job Name contains a null character");
  if (type === "") problems.push("Missing job type");
  else if (!TYPES.has(type)) problems.push(`Invalid job type: ${goQuote(type)}`);
  for (const datacenter of strings(job, "Datacenters")) {
    if (datacenter === "") problems.push("Job datacenter must be non-empty string");
  }
  if (recs(job, "TaskGroups").length === 0) problems.push("Missing job task groups");
  return problems;
}

function descriptionProblems(job: ServerJob): string[] {
  const problems: string[] = [];
  for (const [key, word] of [
    ["UI", "UI"],
    ["VersionTag", "Tagged version"],
  ] as const) {
    const bytes = Buffer.byteLength(str(rec(job, key), "Description"));
    if (bytes > 1_000) problems.push(`${word} description must be under 1000 characters, currently ${bytes}`);
  }
  return problems;
}

function groupNameProblems(job: ServerJob): string[] {
  const problems: string[] = [];
  const places = new Map<string, number>();
  for (const [i, group] of recs(job, "TaskGroups").entries()) {
    const name = str(group, "Name");
    const other = places.get(name);
    if (name === "") problems.push(`Job task group ${i + 1} missing name`);
    else if (other !== undefined) problems.push(`Job task group ${i + 1} redefines '${name}' from group ${other + 1}`);
    else places.set(name, i);
    if (num(group, "ShutdownDelay") < 0) problems.push("ShutdownDelay must be a positive value");
    const count = num(group, "Count");
    if (job["Type"] === "system" && count > 1) {
      problems.push(`Job task group ${name} has count ${count}. Count cannot exceed 1 with system scheduler`);
    }
  }
  return problems;
}

function isBatch(job: ServerJob): boolean {
  return job["Type"] === "batch" || job["Type"] === "sysbatch";
}

function periodicProblems(job: ServerJob): string[] {
  const periodic = rec(job, "Periodic");
  if (periodic === undefined || !flag(periodic, "Enabled")) return [];
  const wrongType = isBatch(job) ? [] : ['Periodic can only be used with "batch" or "sysbatch" scheduler'];
  return [...wrongType, ...nested(scheduleProblems(periodic))];
}

function scheduleProblems(periodic: Rec): string[] {
  const problems: string[] = [];
  const [spec, specs, zone, type] = [
    str(periodic, "Spec"),
    strings(periodic, "Specs"),
    str(periodic, "TimeZone"),
    str(periodic, "SpecType"),
  ];
  if (spec !== "" && specs.length > 0) problems.push("Only cron or crons may be used");
  if (spec === "" && specs.length === 0) problems.push("Must specify a spec");
  if (zone !== "" && !isTimeZone(zone)) problems.push(`Invalid time zone ${goQuote(zone)}: unknown time zone ${zone}`);
  if (type === "_internal_test") return problems;
  if (type !== "cron") return [...problems, `Unknown periodic specification type ${goQuote(type)}`];
  for (const text of spec === "" ? specs : [spec, ...specs]) {
    const wrong = cronProblem(text);
    if (wrong !== undefined) problems.push(`Invalid cron spec ${goQuote(text)}: ${wrong}`);
  }
  return problems;
}

/** An IANA name as it is spelt; "Local" is the server's own zone. */
function isTimeZone(zone: string): boolean {
  if (zone === "Local" || zone === "UTC") return true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return !/^[+-]/.test(zone);
  } catch {
    return false;
  }
}

function cronProblem(text: string): string | undefined {
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

function parameterizedProblems(job: ServerJob): string[] {
  const parameterized = rec(job, "ParameterizedJob");
  if (parameterized === undefined || flag(job, "Dispatched")) return [];
  const wrongType = isBatch(job) ? [] : ['Parameterized job can only be used with "batch" or "sysbatch" scheduler'];
  const problems: string[] = [];
  const payload = str(parameterized, "Payload");
  if (!["optional", "required", "forbidden"].includes(payload)) problems.push(`Unknown payload requirement: ${goQuote(payload)}`);
  const optional = new Set(strings(parameterized, "MetaOptional"));
  const both = [...new Set(strings(parameterized, "MetaRequired"))].filter((key) => optional.has(key));
  if (both.length > 0) {
    problems.push(`Required and optional meta keys should be disjoint. Following keys exist in both: [${both.join(" ")}]`);
  }
  return [...wrongType, ...nested(problems)];
}
