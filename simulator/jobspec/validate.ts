import { consulProblem } from "./consul.ts";
import { exposeProblem } from "./expose-check.ts";
import { goQuote, goQuoteList } from "./go-text.ts";
import { numaRequested } from "./implied-constraints.ts";
import type { AdmitContext, NamespaceRules, ServerJob } from "./types.ts";
import { groupConnectProblem } from "./validate-connect.ts";
import { jobProblems } from "./validate-job.ts";
import { isEmpty, num, type Rec, rec, recs, str } from "./values.ts";
import { jobWarnings } from "./warnings.ts";

export interface Verdict {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** More instances than this in one job are refused. */
const MAX_COUNT = 50_000;
const MAX_PRIORITY = 100;

/** Everything the server's validators say about an admitted job, in their order (nomad-api §2.2). */
export function validateAdmission(job: ServerJob, context: AdmitContext): Verdict {
  const first = (problems: readonly (string | undefined)[]) => problems.find((p) => p !== undefined) ?? [];
  const tasks = tasksOf(job);
  const errors = [
    first(recs(job, "TaskGroups").map(groupConnectProblem)),
    exposeProblem(job) ?? [],
    vaultProblem(tasks) ?? [],
    consulProblem(job) ?? [],
    namespaceProblem(job, tasks, context) ?? [],
    poolProblem(job, context) ?? [],
    jobProblems(job),
    limitProblems(job),
    tasks.some((task) => numaRequested(rec(task, "Resources"))) ? ["numa scheduling requires Nomad Enterprise"] : [],
    tasks.some((task) => rec(task, "Schedule") !== undefined) ? ["task schedules requires Nomad Enterprise"] : [],
  ].flat();
  return { errors, warnings: [...jobWarnings(job), ...vaultIdentityWarnings(tasks), ...oversubscriptionWarnings(job, context)] };
}

function tasksOf(job: ServerJob): Rec[] {
  return recs(job, "TaskGroups").flatMap((group) => recs(group, "Tasks"));
}

/** The simulated server has no Vault. */
function vaultProblem(tasks: readonly Rec[]): string | undefined {
  const vault = tasks.map((task) => rec(task, "Vault")).find((v) => v !== undefined);
  return vault === undefined ? undefined : `Vault ${goQuote(str(vault, "Cluster"))} not enabled but used in the job`;
}

function namespaceProblem(job: ServerJob, tasks: readonly Rec[], context: AdmitContext): string | undefined {
  const name = str(job, "Namespace");
  const namespace = context.namespace(name);
  if (namespace === undefined) return `job ${goQuote(str(job, "ID"))} is in nonexistent namespace ${goQuote(name)}`;
  if (isEmpty(namespace.Capabilities)) return undefined;
  const drivers = tasks.map((task) => str(task, "Driver")).filter((driver) => !isAllowed(driver, namespace, "TaskDrivers"));
  if (drivers.length > 0) return disallowed("task driver", drivers, name);
  const modes = recs(job, "TaskGroups")
    .flatMap((group) => recs(group, "Networks").map((network) => str(network, "Mode") || "host"))
    .filter((mode) => !isAllowed(mode, namespace, "NetworkModes"));
  return modes.length > 0 ? disallowed("group network mode", modes, name) : undefined;
}

function isAllowed(what: string, namespace: NamespaceRules, kind: "TaskDrivers" | "NetworkModes"): boolean {
  const rules = namespace.Capabilities;
  if (rules === null || rules === undefined) return true;
  const [enabled, disabled] = [rules[`Enabled${kind}`] ?? [], rules[`Disabled${kind}`] ?? []];
  return (enabled.length === 0 || enabled.includes(what)) && !disabled.includes(what);
}

function disallowed(word: string, found: readonly string[], namespace: string): string {
  if (found.length === 1) return `used ${word} ${goQuote(found[0] ?? "")} is not allowed in namespace ${goQuote(namespace)}`;
  return `used ${word}s ${goQuoteList(found)} are not allowed in namespace ${goQuote(namespace)}`;
}

function poolProblem(job: ServerJob, context: AdmitContext): string | undefined {
  const pool = str(job, "NodePool");
  if (context.nodePool(pool) !== undefined) return undefined;
  return `job ${goQuote(str(job, "ID"))} is in nonexistent node pool ${goQuote(pool)}`;
}

function limitProblems(job: ServerJob): string[] {
  const problems: string[] = [];
  if (job["Type"] === "_core") problems.push("job type cannot be core");
  if (!isEmpty(job["Payload"]) && job["Payload"] !== "") problems.push("job can't be submitted with a payload, only dispatched");
  const priority = num(job, "Priority");
  if (priority < 1 || priority > MAX_PRIORITY) problems.push(`job priority must be between [1, ${MAX_PRIORITY}]`);
  let total = 0;
  for (const group of recs(job, "TaskGroups")) {
    total += num(group, "Count");
    problems.push(...identityProblems(group, `task group ${str(group, "Name")}`));
    for (const task of recs(group, "Tasks")) {
      problems.push(...identityProblems(task, `task ${str(task, "Name")}`), ...vaultIdentityProblems(task));
    }
  }
  if (total > MAX_COUNT) problems.push(`total count was greater than configured job_max_count: ${total} > ${MAX_COUNT}`);
  return problems;
}

function identityProblems(holder: Rec, parent: string): string[] {
  return recs(holder, "Services")
    .filter((service) => rec(service, "Identity") !== undefined && str(rec(service, "Identity"), "Name") === "")
    .map((service) => `Service ${str(service, "Name")} in ${parent} has an identity with an empty name`);
}

/** Another cluster than the default one is logged into with an identity that the task has for it. */
function vaultIdentityProblems(task: Rec): string[] {
  const vault = rec(task, "Vault");
  const cluster = str(vault, "Cluster");
  const wanted = `vault_${cluster}`;
  if (vault === undefined || cluster === "default") return [];
  if (recs(task, "Identities").some((identity) => str(identity, "Name") === wanted)) return [];
  return [
    `Task ${str(task, "Name")} uses Vault cluster ${cluster} but does not have an identity named ${wanted} and no default identity ` +
      "is provided in agent configuration",
  ];
}

function vaultIdentityWarnings(tasks: readonly Rec[]): string[] {
  return tasks
    .filter((task) => rec(task, "Vault") === undefined)
    .flatMap((task) =>
      recs(task, "Identities")
        .map((identity) => str(identity, "Name"))
        .filter((name) => name.startsWith("vault_"))
        .map((name) => `Task ${str(task, "Name")} has an identity called ${name} but no vault block`),
    );
}

function oversubscriptionWarnings(job: ServerJob, context: AdmitContext): string[] {
  const pool = context.nodePool(str(job, "NodePool"));
  if (pool?.SchedulerConfiguration?.MemoryOversubscriptionEnabled ?? context.memoryOversubscription) return [];
  return recs(job, "TaskGroups").flatMap((group) =>
    recs(group, "Tasks")
      .filter((task) => num(rec(task, "Resources"), "MemoryMaxMB") !== 0)
      .map(
        (task) =>
          `Memory oversubscription is not enabled; Task "${str(group, "Name")}.${str(task, "Name")}" memory_max value will be ignored. ` +
          "Update the Scheduler Configuration to allow oversubscription.",
      ),
  );
}
