import { canonicalizeService } from "./canonicalize-service.ts";
import { canonicalizeTask } from "./canonicalize-task.ts";
import { decodeApiJob } from "./decode.ts";
import {
  DISCONNECT,
  EPHEMERAL_DISK,
  fill,
  JOB,
  MIGRATE,
  merged,
  PERIODIC,
  rescheduleDefaults,
  restartDefaults,
  UPDATE,
} from "./defaults.ts";
import { emptyApi } from "./empty.ts";
import type { ApiJob } from "./types.ts";
import { isUnset, type Rec, rec, recs, str } from "./values.ts";

/** What parse with `Canonicalize: true` gives: the client library's defaults, blocks of the job merged into its groups. The input is not changed. */
export function canonicalizeApiJob(job: ApiJob): ApiJob {
  const copy = decodeApiJob(job);
  canonicalizeInPlace(copy);
  return copy;
}

/** The same on a job of full shape (as `decodeApiJob` gives it), which is changed. */
export function canonicalizeInPlace(job: ApiJob): void {
  if (isUnset(job["ID"])) job["ID"] = "";
  if (isUnset(job["Name"])) job["Name"] = job["ID"];
  fill(job, JOB);
  const type = str(job, "Type");
  const periodic = rec(job, "Periodic");
  if (periodic !== undefined) canonicalizePeriodic(periodic);
  canonicalizeUpdate(job, type);
  const multiregion = rec(job, "Multiregion");
  if (multiregion !== undefined) canonicalizeMultiregion(multiregion);
  for (const group of recs(job, "TaskGroups")) canonicalizeGroup(group, job);
  canonicalizeWeights(job);
  const ui = rec(job, "UI");
  if (ui !== undefined && Array.isArray(ui["Links"]) && ui["Links"].length === 0) ui["Links"] = null;
}

function canonicalizePeriodic(periodic: Rec): void {
  fill(periodic, PERIODIC);
  if (isUnset(periodic["Specs"])) periodic["Specs"] = [];
  if (str(periodic, "TimeZone") === "") periodic["TimeZone"] = "UTC";
}

function canonicalizeUpdate(job: ApiJob, type: string): void {
  const update = rec(job, "Update");
  if (update !== undefined) fill(update, UPDATE);
  else if (type === "service" || type === "system") job["Update"] = { ...emptyApi("UpdateStrategy"), ...UPDATE };
}

function canonicalizeMultiregion(multiregion: Rec): void {
  const strategy = rec(multiregion, "Strategy") ?? emptyApi("MultiregionStrategy");
  fill(strategy, { MaxParallel: 0, OnFailure: "" });
  multiregion["Strategy"] = strategy;
  if (isUnset(multiregion["Regions"])) multiregion["Regions"] = [];
  for (const region of recs(multiregion, "Regions")) {
    fill(region, { Count: 1 });
    if (isUnset(region["Datacenters"])) region["Datacenters"] = [];
    if (isUnset(region["Meta"])) region["Meta"] = {};
  }
}

/** Affinities and spreads of a job, group or device. */
export function canonicalizeWeights(holder: Rec): void {
  for (const spread of recs(holder, "Spreads")) fill(spread, { Weight: 50 });
  for (const affinity of recs(holder, "Affinities")) fill(affinity, { Weight: 50 });
}

function canonicalizeGroup(group: Rec, job: ApiJob): void {
  fill(group, { Name: "" });
  const type = str(job, "Type");
  const scaling = rec(group, "Scaling");
  if (isUnset(group["Count"])) group["Count"] = scaling !== undefined && !isUnset(scaling["Min"]) ? scaling["Min"] : 1;
  if (scaling !== undefined) {
    fill(scaling, { Enabled: true, Min: group["Count"] });
    if (str(scaling, "Type") === "") scaling["Type"] = "horizontal";
  }
  const disk = rec(group, "EphemeralDisk") ?? emptyApi("EphemeralDisk");
  fill(disk, EPHEMERAL_DISK);
  group["EphemeralDisk"] = disk;
  const consul = rec(group, "Consul");
  if (consul !== undefined) {
    if (str(consul, "Namespace") === "") consul["Namespace"] = str(job, "ConsulNamespace");
    if (str(consul, "Cluster") === "") consul["Cluster"] = "default";
  }
  mergeGroupPolicies(group, job, type);
  for (const task of recs(group, "Tasks")) canonicalizeTask(task, group, job);
  canonicalizeWeights(group);
  for (const service of recs(group, "Services")) canonicalizeService(service, undefined, group, job);
  const disconnect = rec(group, "Disconnect");
  if (disconnect !== undefined) fill(disconnect, DISCONNECT);
}

/** Update, reschedule, migrate: the group's block over the job's over the defaults. */
function mergeGroupPolicies(group: Rec, job: ApiJob, type: string): void {
  const update = mergeUpdate(rec(job, "Update"), rec(group, "Update"));
  if (update !== undefined) fill(update, UPDATE);
  group["Update"] = update ?? null;
  const reschedulable = type !== "sysbatch" && type !== "system";
  const reschedule =
    mergeBlocks(rec(job, "Reschedule"), rec(group, "ReschedulePolicy")) ??
    (reschedulable ? emptyApi("ReschedulePolicy") : undefined);
  if (reschedule !== undefined) fill(reschedule, rescheduleDefaults(type));
  group["ReschedulePolicy"] = reschedule ?? null;
  const migrate =
    mergeBlocks(rec(job, "Migrate"), rec(group, "Migrate")) ?? (type === "service" ? emptyApi("MigrateStrategy") : undefined);
  if (migrate !== undefined) fill(migrate, MIGRATE);
  group["Migrate"] = migrate ?? null;
  const restart: Rec = { ...emptyApi("RestartPolicy"), ...restartDefaults(type) };
  group["RestartPolicy"] = merged(restart, rec(group, "RestartPolicy") ?? {});
}

function mergeBlocks(job: Rec | undefined, group: Rec | undefined): Rec | undefined {
  if (job === undefined) return group;
  return merged(job, group ?? {});
}

function mergeUpdate(job: Rec | undefined, group: Rec | undefined): Rec | undefined {
  if (job === undefined) return group;
  if (group === undefined && saysNothing(job)) return undefined;
  return merged(job, group ?? {});
}

/** An update block of zeros stands for "no rolling update" and is not inherited. */
function saysNothing(update: Rec): boolean {
  return Object.values(update).every((v) => isUnset(v) || v === 0 || v === "" || v === false);
}
