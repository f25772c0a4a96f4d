import { specChanged } from "../jobspec/admit.ts";
import type { ServerJob, UpdateKind } from "../jobspec/types.ts";
import { flag, isUnset, num, type Rec, rec, recs, sameButForEmpty, str } from "../jobspec/values.ts";

/**
 * What the scheduler does with a running allocation of `old` when the job becomes `next`, as far as the specification decides it
 * (nomad-api §13): nothing, an update in place, or a replacement. Whether the node still fits is the scheduler's matter. A group that
 * is missing on one side counts as destructive.
 */
export function groupUpdateKind(old: ServerJob, next: ServerJob, groupName: string): UpdateKind {
  if (!specChanged(old, next)) return "ignore";
  const [a, b] = [groupOf(old, groupName), groupOf(next, groupName)];
  if (a === undefined || b === undefined) return "destructive";
  return groupReplaced(old, next, a, b) ? "destructive" : "in_place";
}

function groupOf(job: ServerJob, name: string): Rec | undefined {
  return recs(job, "TaskGroups").find((group) => str(group, "Name") === name);
}

/** A difference here needs new allocations. Any change of the job's meta does, unless a task overrides the key. */
function groupReplaced(old: ServerJob, next: ServerJob, a: Rec, b: Rec): boolean {
  const [oldTasks, nextTasks] = [recs(a, "Tasks"), recs(b, "Tasks")];
  if (oldTasks.length !== nextTasks.length) return true;
  if (!sameButForEmpty(a["EphemeralDisk"], b["EphemeralDisk"]) || !sameButForEmpty(a["Volumes"], b["Volumes"])) return true;
  if (networksDiffer(a, b) || consulDiffers(a, b) || connectDiffers(a, b) || rendersDiffer(a, b)) return true;
  return oldTasks.some((task) => {
    const other = nextTasks.find((t) => str(t, "Name") === str(task, "Name"));
    if (other === undefined) return true;
    return metaDiffers([old, a, task], [next, b, other]) || taskReplaced(task, other);
  });
}

type Levels = readonly [job: ServerJob, group: Rec, task: Rec];

function metaDiffers(old: Levels, next: Levels): boolean {
  if (old.every((level, i) => level["Meta"] === next[i]?.["Meta"])) return false;
  return !sameButForEmpty(combinedMeta(...old), combinedMeta(...next));
}

function combinedMeta(job: ServerJob, group: Rec, task: Rec): Rec {
  return { ...rec(job, "Meta"), ...rec(group, "Meta"), ...rec(task, "Meta") };
}

const TASK_FIELDS = [
  "Driver",
  "User",
  "Config",
  "Env",
  "Artifacts",
  "Vault",
  "Secrets",
  "Templates",
  "CSIPluginConfig",
  "VolumeMounts",
  "Identity",
  "Identities",
] as const;
const RESOURCE_FIELDS = ["CPU", "Cores", "MemoryMB", "MemoryMaxMB", "SecretsMB"] as const;

function taskReplaced(a: Rec, b: Rec): boolean {
  if (TASK_FIELDS.some((key) => !sameButForEmpty(a[key], b[key]))) return true;
  const [before, after] = [rec(a, "Resources") ?? {}, rec(b, "Resources") ?? {}];
  if (RESOURCE_FIELDS.some((key) => num(before, key) !== num(after, key))) return true;
  if (!sameButForEmpty(before["NUMA"], after["NUMA"]) || !sameByName(recs(before, "Devices"), recs(after, "Devices")))
    return true;
  if (networksDiffer(before, after) || consulDiffers(a, b) || rendersDiffer(a, b)) return true;
  return flag(rec(a, "LogConfig"), "Disabled") !== flag(rec(b, "LogConfig"), "Disabled");
}

function sameByName(a: readonly Rec[], b: readonly Rec[]): boolean {
  const sorted = (list: readonly Rec[]) => [...list].sort((x, y) => (str(x, "Name") < str(y, "Name") ? -1 : 1));
  return sameButForEmpty(sorted(a), sorted(b));
}

function networksDiffer(a: Rec, b: Rec): boolean {
  const [old, next] = [recs(a, "Networks"), recs(b, "Networks")];
  if (old.length !== next.length) return true;
  return old.some((network, i) => !sameButForEmpty(networkShape(network), networkShape(next[i] ?? {})));
}

/** What of a network an allocation was placed for. */
function networkShape(network: Rec): Rec {
  const port = (p: Rec, value: unknown) => JSON.stringify([str(p, "Label"), value, num(p, "To"), str(p, "HostNetwork")]);
  const ports = [
    ...recs(network, "ReservedPorts").map((p) => port(p, num(p, "Value"))),
    ...recs(network, "DynamicPorts").map((p) => port(p, -1)),
  ];
  return {
    Mode: str(network, "Mode"),
    MBits: num(network, "MBits"),
    Hostname: str(network, "Hostname"),
    DNS: network["DNS"],
    CNI: network["CNI"],
    // In their order, although to ask for the same ports in another order changes nothing.
    Ports: ports,
  };
}

function consulDiffers(a: Rec, b: Rec): boolean {
  const [old, next] = [rec(a, "Consul"), rec(b, "Consul")];
  // A block that comes or goes is no reason to restart, nor is the namespace, which the free edition does not know.
  if (old === undefined || next === undefined) return false;
  return str(old, "Cluster") !== str(next, "Cluster") || str(old, "Partition") !== str(next, "Partition");
}

function rendersDiffer(a: Rec, b: Rec): boolean {
  return flag(rec(a, "RestartPolicy"), "RenderTemplates") !== flag(rec(b, "RestartPolicy"), "RenderTemplates");
}

function connectDiffers(a: Rec, b: Rec): boolean {
  // Nomad walks the services of the new job here.
  for (const service of recs(b, "Services")) {
    const connect = rec(service, "Connect");
    if (connect === undefined) continue;
    const other = recs(a, "Services").find((s) => str(s, "Name") === str(service, "Name"));
    if (other === undefined) continue;
    if (connectChanged(connect, rec(other, "Connect"))) return true;
    if (str(service, "PortLabel") !== str(other, "PortLabel") || str(service, "Cluster") !== str(other, "Cluster")) return true;
  }
  return false;
}

/** Tags, proxy and upstreams of a sidecar reach it while it runs. */
function connectChanged(a: Rec, b: Rec | undefined): boolean {
  if (b === undefined || flag(a, "Native") !== flag(b, "Native")) return true;
  if (!sameButForEmpty(a["Gateway"], b["Gateway"]) || !sameButForEmpty(a["SidecarTask"], b["SidecarTask"])) return true;
  const [before, after] = [a["SidecarService"], b["SidecarService"]];
  if (isUnset(before) !== isUnset(after)) return true;
  return str(rec(a, "SidecarService"), "Port") !== str(rec(b, "SidecarService"), "Port");
}

export { annotateDiff } from "./annotate.ts";
