import { DISCONNECT, EPHEMERAL_DISK, fill, MIGRATE, rescheduleDefaults, restartDefaults, SECOND } from "./defaults.ts";
import { goQuote } from "./go-text.ts";
import type { ServerJob } from "./types.ts";
import { isEmpty, type Rec, rec, recs, str } from "./values.ts";

/** What the server fills in after the client's library (nomad-api §2.5). Changes the job. */
export function canonicalizeServerJob(job: ServerJob): void {
  nullIfEmpty(job, "Meta", "Constraints", "Affinities", "Spreads");
  if (str(job, "Namespace") === "") job["Namespace"] = "default";
  if (isEmpty(job["Datacenters"])) job["Datacenters"] = ["*"];
  for (const group of recs(job, "TaskGroups")) canonicalizeServerGroup(group, job);
  const parameterized = rec(job, "ParameterizedJob");
  if (parameterized !== undefined && str(parameterized, "Payload") === "") parameterized["Payload"] = "optional";
  if (job["Priority"] === 0) job["Priority"] = 50;
}

function nullIfEmpty(object: Rec, ...keys: readonly string[]): void {
  for (const key of keys) if (isEmpty(object[key])) object[key] = null;
}

function canonicalizeServerGroup(group: Rec, job: ServerJob): void {
  const type = str(job, "Type");
  nullIfEmpty(group, "Meta", "Constraints", "Affinities", "Spreads");
  group["RestartPolicy"] ??= type === "sysbatch" ? null : { ...restartDefaults(type) };
  if (type === "service" || type === "batch") group["ReschedulePolicy"] ??= { ...rescheduleDefaults(type) };
  const disconnect = rec(group, "Disconnect");
  if (disconnect !== undefined) {
    fill(disconnect, { Replace: true });
    if (str(disconnect, "Reconcile") === "") disconnect["Reconcile"] = DISCONNECT["Reconcile"];
  }
  if (type === "service") group["Migrate"] ??= { ...MIGRATE };
  group["EphemeralDisk"] ??= { ...EPHEMERAL_DISK };
  const scaling = rec(group, "Scaling");
  if (scaling !== undefined) canonicalizeScaling(scaling, job, group, undefined);
  for (const service of recs(group, "Services")) canonicalizeServerService(service, job, group, "group");
  for (const network of recs(group, "Networks")) canonicalizeNetwork(network);
  for (const task of recs(group, "Tasks")) canonicalizeServerTask(task, job, group);
}

function canonicalizeScaling(policy: Rec, job: ServerJob, group: Rec, task: Rec | undefined): void {
  if (str(policy, "Type") === "") policy["Type"] = "horizontal";
  policy["Target"] = {
    Namespace: str(job, "Namespace"),
    Job: str(job, "ID"),
    Group: str(group, "Name"),
    ...(task === undefined ? {} : { Task: str(task, "Name") }),
  };
}

/** Gives every port a host network. */
export function canonicalizeNetwork(network: Rec): void {
  for (const port of [...recs(network, "DynamicPorts"), ...recs(network, "ReservedPorts")]) {
    if (str(port, "HostNetwork") === "") port["HostNetwork"] = "default";
  }
}

/** Also run again on tasks that admission itself adds. */
export function canonicalizeServerTask(task: Rec, job: ServerJob, group: Rec): void {
  nullIfEmpty(task, "Meta", "Config", "Env", "Constraints", "Affinities", "VolumeMounts");
  for (const service of recs(task, "Services")) canonicalizeServerService(service, job, group, str(task, "Name"));
  const resources = rec(task, "Resources");
  for (const network of recs(resources, "Networks")) canonicalizeNetwork(network);
  const numa = rec(resources, "NUMA");
  if (numa !== undefined && str(numa, "Affinity") === "") numa["Affinity"] = "none";
  task["RestartPolicy"] ??= group["RestartPolicy"];
  if (task["KillTimeout"] === 0) task["KillTimeout"] = 5 * SECOND;
  for (const policy of recs(task, "ScalingPolicies")) canonicalizeScaling(policy, job, group, task);
  const vault = rec(task, "Vault");
  if (vault !== undefined) {
    vault["ChangeSignal"] = str(vault, "ChangeSignal").toUpperCase();
    if (str(vault, "ChangeMode") === "") vault["ChangeMode"] = "restart";
  }
  for (const template of recs(task, "Templates")) template["ChangeSignal"] = str(template, "ChangeSignal").toUpperCase();
  for (const secret of recs(task, "Secrets")) nullIfEmpty(secret, "Config");
  canonicalizeIdentities(task);
}

/** The default identity stands apart from the named ones, and every task has one. */
function canonicalizeIdentities(task: Rec): void {
  const named: Rec[] = [];
  let found: Rec | undefined;
  const all = recs(task, "Identities");
  for (const identity of all) {
    canonicalizeIdentity(identity);
    if (str(identity, "Name") === "default") found = identity;
  }
  // Of several default identities the last one counts; the others stay where they are and are refused later.
  for (const identity of all) if (identity !== found) named.push(identity);
  if (found !== undefined) {
    task["Identity"] = found;
    // An empty list that is left over is not the same as none.
    task["Identities"] = named;
  }
  const identity = rec(task, "Identity") ?? emptyIdentity();
  canonicalizeIdentity(identity);
  task["Identity"] = identity;
}

function emptyIdentity(): Rec {
  return {
    Name: "default",
    Audience: null,
    ChangeMode: "",
    ChangeSignal: "",
    Env: false,
    File: false,
    Filepath: "",
    ServiceName: "",
    TTL: 0,
    ExtraClaims: null,
  };
}

function canonicalizeIdentity(identity: Rec): void {
  if (str(identity, "Name") === "") identity["Name"] = "default";
  if (identity["Name"] === "default") identity["Audience"] = ["nomadproject.io"];
  identity["ChangeSignal"] = str(identity, "ChangeSignal").toUpperCase();
}

/** A reference such as `${NOMAD_JOB_NAME}`. */
export const INTERPOLATED = /\$\{([a-zA-Z0-9_\-.]+)\}/g;

/** Replaces the names that `known` has; others stay as they are. */
export function interpolate(text: string, known: Readonly<Record<string, string>>): string {
  if (!text.includes("${")) return text;
  return text.replace(INTERPOLATED, (all, name: string) => known[name] ?? all);
}

function canonicalizeServerService(service: Rec, job: ServerJob, group: Rec, task: string): void {
  nullIfEmpty(service, "Tags", "CanaryTags", "Checks", "TaggedAddresses");
  if (str(service, "TaskName") === "" && task !== "group") service["TaskName"] = task;
  const [jobName, groupName] = [str(job, "Name"), str(group, "Name")];
  const BASE = `${jobName}-${groupName}-${task}`;
  service["Name"] = interpolate(str(service, "Name"), { JOB: jobName, TASKGROUP: groupName, TASK: task, BASE });
  for (const check of recs(service, "Checks")) canonicalizeServerCheck(check, service);
  if (str(service, "Provider") === "") service["Provider"] = "consul";
  if (service["Provider"] === "nomad") service["Namespace"] = str(job, "Namespace");
  else if (str(service, "Namespace") === "" && service["Provider"] === "consul") service["Namespace"] = "default";
}

function canonicalizeServerCheck(check: Rec, service: Rec): void {
  nullIfEmpty(check, "Args", "Header");
  const header = rec(check, "Header");
  if (header !== undefined) nullIfEmpty(header, ...Object.keys(header));
  if (str(check, "Name") === "") check["Name"] = `service: ${goQuote(str(service, "Name"))} check`;
  const task = str(service, "TaskName");
  if (str(check, "TaskName") === "" && task !== "group") check["TaskName"] = task;
  if (str(check, "OnUpdate") === "") check["OnUpdate"] = "require_healthy";
}
