import { serverTable } from "./api-tables.ts";
import { blankOf, emptyValue } from "./empty.ts";
import type { Field, Table } from "./schema.ts";
import type { ApiJob, ServerJob } from "./types.ts";
import { flag, isUnset, num, type Rec, rec, recEntries, recs, str } from "./values.ts";

/** Builds one object of the server's form from one of the client's. */
type Build = (api: Rec, table: Table) => Rec;

/**
 * A canonical job of the client in the server's form: a fixed field list, all else dropped (nomad-api §3.4). Most fields go over under
 * their own name; the tables say which, and the exceptions are the functions below.
 */
export function toServerJob(api: ApiJob): ServerJob {
  return build("Job", api);
}

function build(name: string, api: Rec): Rec {
  return (SPECIAL[name] ?? plain)(api, serverTable(name));
}

function plain(api: Rec, table: Table): Rec {
  const object = blankOf(table);
  for (const field of table.fields) {
    const stated = api[field.name];
    const valueStruct = field.kind === "struct" && !field.pointer;
    if (isUnset(stated) && !valueStruct) continue;
    const value = convert(field, stated);
    if (field.omitted && isZero(value)) continue;
    object[field.name] = value;
  }
  return object;
}

function isZero(value: unknown): boolean {
  return value === null || value === "" || value === 0 || value === false;
}

function convert(field: Field, value: unknown): unknown {
  if (isUnset(value)) return field.kind === "struct" && !field.pointer ? build(field.table, {}) : emptyValue(field);
  switch (field.kind) {
    case "struct":
      return build(field.table, value as Rec);
    case "list":
      return (value as Rec[]).length === 0 ? null : (value as Rec[]).map((v) => build(field.table, v));
    case "structmap":
      return Object.fromEntries(Object.entries(value as Record<string, Rec>).map(([k, v]) => [k, build(field.table, v)]));
    default:
      return value;
  }
}

/** Fields of the job that only the server sets: a client's values for them are not looked at. */
const SERVER_ONLY = [
  "ParentID",
  "Dispatched",
  "DispatchIdempotencyToken",
  "ConsulNamespace",
  "NomadTokenID",
  "Status",
  "StatusDescription",
  "Stable",
  "SubmitTime",
  "CreateIndex",
  "ModifyIndex",
  "JobModifyIndex",
] as const;

function buildJob(api: Rec, table: Table): Rec {
  const job = without(plain(api, table), SERVER_ONLY, table);
  const update = rec(api, "Update");
  // The rest of the block lives in the groups; at job level only these two survive.
  const rolling = num(update, "MaxParallel") > 0;
  job["Update"] = build("UpdateStrategy", rolling ? { Stagger: update?.["Stagger"], MaxParallel: update?.["MaxParallel"] } : {});
  const vaultNamespace = str(api, "VaultNamespace");
  if (vaultNamespace === "") return job;
  for (const group of recs(job, "TaskGroups")) {
    for (const task of recs(group, "Tasks")) {
      const vault = rec(task, "Vault");
      if (vault !== undefined && str(vault, "Namespace") === "") vault["Namespace"] = vaultNamespace;
    }
  }
  return job;
}

/** Empties fields as if the client had said nothing. */
function without(object: Rec, keys: readonly string[], table: Table): Rec {
  for (const key of keys) {
    const field = table.byName.get(key);
    if (field === undefined) continue;
    if (!field.omitted) object[key] = emptyValue(field);
    else if (key in object) delete object[key];
  }
  return object;
}

/** Deprecated fields that Nomad reads and drops. */
const DROPPED_OF_GROUP = ["StopAfterClientDisconnect", "MaxClientDisconnect", "PreventRescheduleOnLost"] as const;

function buildGroup(api: Rec, table: Table): Rec {
  const group = without(plain(api, table), DROPPED_OF_GROUP, table);
  const volumes = recEntries(group, "Volumes");
  const known = volumes.filter(([, volume]) => str(volume, "Type") === "host" || str(volume, "Type") === "csi");
  if (known.length < volumes.length || volumes.length === 0) {
    group["Volumes"] = volumes.length === 0 ? null : Object.fromEntries(known);
  }
  for (const service of recs(group, "Services")) inheritOnUpdate(service);
  return group;
}

function buildTask(api: Rec, table: Table): Rec {
  const task = plain(api, table);
  const mounts = api["VolumeMounts"];
  if (Array.isArray(mounts)) {
    const named = mounts.filter((mount: Rec) => !isUnset(mount["Volume"]));
    task["VolumeMounts"] = named.length === 0 ? null : named.map((mount: Rec) => build("VolumeMount", mount));
  }
  for (const service of recs(task, "Services")) {
    inheritOnUpdate(service);
    // A check of a task's service belongs to that task; its own word is not taken.
    for (const check of recs(service, "Checks")) check["TaskName"] = "";
  }
  const schedule = rec(task, "Schedule");
  if (schedule !== undefined && rec(schedule, "Cron") === undefined) task["Schedule"] = null;
  return task;
}

function inheritOnUpdate(service: Rec): void {
  for (const check of recs(service, "Checks")) if (str(check, "OnUpdate") === "") check["OnUpdate"] = str(service, "OnUpdate");
}

function buildScaling(api: Rec): Rec {
  return {
    ID: "",
    Type: str(api, "Type"),
    Target: {},
    Policy: api["Policy"] ?? null,
    Min: num(api, "Min"),
    // Validation refuses it.
    Max: isUnset(api["Max"]) ? -1 : num(api, "Max"),
    Enabled: isUnset(api["Enabled"]) || flag(api, "Enabled"),
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}

function buildGatewayProxy(api: Rec, table: Table): Rec {
  const proxy = plain(api, table);
  if (isUnset(proxy["EnvoyGatewayBindAddresses"])) proxy["EnvoyGatewayBindAddresses"] = {};
  return proxy;
}

const SPECIAL: Readonly<Record<string, Build>> = {
  Job: buildJob,
  TaskGroup: buildGroup,
  Task: buildTask,
  ScalingPolicy: buildScaling,
  ConsulGatewayProxy: buildGatewayProxy,
  NetworkResource: (api, table) => without(plain(api, table), ["Device"], table),
  Resources: (api, table) => without(plain(api, table), ["DiskMB"], table),
  JobUILink: (api) => ({ Label: str(api, "Label"), Url: str(api, "URL") }),
  ConsulProxy: (api, table) => plain({ ...api, Expose: rec(api, "ExposeConfig") ?? api["Expose"] }, table),
  ConsulExposeConfig: (api, table) => plain({ ...api, Paths: api["Path"] ?? api["Paths"] }, table),
};
