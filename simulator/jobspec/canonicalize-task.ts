import { posix } from "node:path";
import { canonicalizeLogs, canonicalizeResources, dropEmpty } from "./canonicalize-resources.ts";
import { canonicalizeService } from "./canonicalize-service.ts";
import { CHANGE_SCRIPT, fill, merged, SECOND, TEMPLATE, VAULT, VOLUME_MOUNT } from "./defaults.ts";
import { emptyApi } from "./empty.ts";
import type { ApiJob } from "./types.ts";
import { isUnset, type Rec, rec, recs, str } from "./values.ts";

/** The client library's defaults of a task. */
export function canonicalizeTask(task: Rec, group: Rec, job: ApiJob): void {
  task["Resources"] = canonicalizeResources(rec(task, "Resources") ?? emptyApi("Resources"));
  fill(task, { KillTimeout: 5 * SECOND });
  task["LogConfig"] = canonicalizeLogs(rec(task, "LogConfig"));
  for (const artifact of recs(task, "Artifacts")) canonicalizeArtifact(artifact);
  const vault = rec(task, "Vault");
  if (vault !== undefined) {
    fill(vault, VAULT);
    if (str(vault, "Cluster") === "") vault["Cluster"] = "default";
  }
  const consul = rec(task, "Consul");
  if (consul !== undefined && str(consul, "Cluster") === "") consul["Cluster"] = "default";
  for (const template of recs(task, "Templates")) canonicalizeTemplate(template);
  for (const secret of recs(task, "Secrets")) dropEmpty(secret, "Config", "Env");
  for (const service of recs(task, "Services")) canonicalizeService(service, task, group, job);
  for (const affinity of recs(task, "Affinities")) fill(affinity, { Weight: 50 });
  for (const mount of recs(task, "VolumeMounts")) fill(mount, VOLUME_MOUNT);
  const csi = rec(task, "CSIPluginConfig");
  if (csi !== undefined) canonicalizeCsiPlugin(csi);
  const restart = rec(task, "RestartPolicy");
  const groupRestart = rec(group, "RestartPolicy") ?? {};
  task["RestartPolicy"] = restart === undefined ? groupRestart : merged(groupRestart, restart);
}

function canonicalizeArtifact(artifact: Rec): void {
  fill(artifact, { GetterMode: "any", GetterInsecure: false, GetterSource: "" });
  dropEmpty(artifact, "GetterOptions", "GetterHeaders");
  if (!isUnset(artifact["RelativeDest"])) return;
  // A single file is put under its own name; anything else into the folder.
  artifact["RelativeDest"] =
    str(artifact, "GetterMode") === "file" ? posix.join("local", basename(str(artifact, "GetterSource"))) : "local/";
}

/** The last path element as Go's path.Base gives it: "." for nothing, "/" for slashes only. */
function basename(path: string): string {
  if (path === "") return ".";
  const trimmed = path.replace(/\/+$/, "");
  return trimmed === "" ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

function canonicalizeTemplate(template: Rec): void {
  const signal = template["ChangeSignal"];
  fill(template, TEMPLATE);
  if (typeof signal === "string") template["ChangeSignal"] = signal.toUpperCase();
  else template["ChangeSignal"] = template["ChangeMode"] === "signal" ? "SIGHUP" : "";
  const script = rec(template, "ChangeScript");
  if (script === undefined) return;
  fill(script, CHANGE_SCRIPT);
  if (isUnset(script["Args"])) script["Args"] = [];
}

function canonicalizeCsiPlugin(csi: Rec): void {
  if (str(csi, "MountDir") === "") csi["MountDir"] = "/csi";
  if (str(csi, "StagePublishBaseDir") === "") csi["StagePublishBaseDir"] = "/local/csi";
  if (!csi["HealthTimeout"]) csi["HealthTimeout"] = 30 * SECOND;
}
