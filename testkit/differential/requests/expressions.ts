import type { Chooser } from "../../job-generator/chooser.ts";

/** Fields by what rows of a list have them, of every Go type, and some that none has. */
const fields: Readonly<Record<string, readonly string[]>> = {
  job: [
    "ID",
    "Name",
    "Type",
    "Status",
    "Priority",
    "Stop",
    "Version",
    "Meta",
    "Meta.owner",
    "Datacenters",
    "TaskGroups",
    "Periodic",
    "ParameterizedJob",
    "NodePool",
    "Multiregion",
    "Stable",
    "SubmitTime",
    "Payload",
    "Constraints",
    "Update",
    "Dispatched",
    "UI",
    "VersionTag",
    'TaskGroups["0"].Name',
  ],
  eval: [
    "ID",
    "Status",
    "Type",
    "TriggeredBy",
    "JobID",
    "Priority",
    "Namespace",
    "WaitUntil",
    "Wait",
    "BlockedEval",
    "DeploymentID",
    "FailedTGAllocs",
    "QueuedAllocations",
    "QueuedAllocations.g",
    "ClassEligibility",
    "EscapedComputedClass",
    "CreateTime",
    "NodeID",
    "RelatedEvals",
    "PlanAnnotations",
  ],
  alloc: [
    "ID",
    "Name",
    "JobID",
    "TaskGroup",
    "ClientStatus",
    "DesiredStatus",
    "Job.Type",
    "Job.Meta.owner",
    "NodeName",
    "Namespace",
    "DeploymentStatus",
    "DeploymentStatus.Healthy",
    "TaskStates",
    "TaskStates.t.State",
    "TaskStates.t.Failed",
    "DesiredTransition.Migrate",
    "NextAllocation",
    "CreateTime",
    "Metrics.NodesEvaluated",
    "AllocatedResources.Shared.DiskMB",
    "PreemptedAllocations",
    "RescheduleTracker",
  ],
  deployment: [
    "ID",
    "Status",
    "JobID",
    "JobVersion",
    "Namespace",
    "TaskGroups",
    "TaskGroups.g.DesiredCanaries",
    "TaskGroups.g.Promoted",
    "IsMultiregion",
    "StatusDescription",
    "CreateTime",
    "EvalPriority",
  ],
  node: [
    "ID",
    "Name",
    "Datacenter",
    "NodeClass",
    "NodePool",
    "Status",
    "Drain",
    "SchedulingEligibility",
    "Attributes",
    'Attributes["kernel.name"]',
    "Meta",
    "Drivers",
    "Drivers.raw_exec.Healthy",
    "HostVolumes",
    "NodeResources.Cpu.CpuShares",
    "DrainStrategy",
    "LastDrain",
    "Events",
    "SecretID",
    "Links",
    "TLSEnabled",
    "StatusUpdatedAt",
  ],
  variable: ["Path", "Namespace", "CreateTime", "Lock", "Lock.ID"],
  namespace: [
    "Name",
    "Description",
    "Meta",
    "Meta.owner",
    "Quota",
    "Capabilities",
    "Capabilities.DisabledTaskDrivers",
    "Hash",
    "NodePoolConfiguration",
  ],
  pool: [
    "Name",
    "Description",
    "Meta",
    "Meta.size",
    "SchedulerConfiguration",
    "SchedulerConfiguration.SchedulerAlgorithm",
    "NodeIdentityTTL",
  ],
  policy: ["Name", "Description", "Rules", "JobACL", "JobACL.Namespace", "Hash"],
  token: ["Name", "Type", "Policies", "Global", "Roles", "ExpirationTime", "AccessorID", "CreateTime"],
  role: ["Name", "Description", "Policies", "ID"],
  service: ["ServiceName", "Tags", "Namespace", "JobID", "Port", "Address", "Datacenter"],
  scaling: ["ID", "Type", "Enabled", "Target", "Target.Job", "Min", "Max", "Policy"],
};

const values = [
  "web",
  "service",
  "batch",
  "dc1",
  "default",
  "team-a",
  "running",
  "complete",
  "dead",
  "pending",
  "50",
  "60",
  "0",
  "1",
  "-1",
  "true",
  "false",
  "1.5",
  "t",
  "ann",
  "g",
  "raw_exec",
  "run",
  '""',
  "`x`",
  '"a b"',
  "owner",
  "nomad",
  "99999999999999999999",
];
const patterns = ['"^w"', '"e$"', "`.*`", '"[a-z]+-[0-9]"', '"("', '"["', '"(?i)WEB"', '"\\\\d"', '"*"'];
const wrong = ["Nothing", "nothing.at.all", "ID.x", "Meta.", "id", "TaskGroups.x", '"/ID"', '"/Meta/owner"', 'Meta["no such"]'];
const broken = [
  "",
  "ID",
  "ID ==",
  "== x",
  'ID == "x',
  "ID = x",
  "(ID == x",
  "ID == x)",
  "not",
  "ID == x and",
  "ID == x && ID == y",
  "ID is emtpy",
  "x in",
  "ID in",
  "ID matches",
  "ID == 01",
  "ID == -",
  "ID == 'x'",
  "ID == x y",
  "ID  ==  x",
  "ID==x",
  "\tID == x\n",
  "any ID as x { x == 1",
  'ID == "\\q"',
  "ID == é",
  "日本 == x",
  "ID contains",
  "ID not",
  "ID == x or or ID == y",
  "ID != `a`b`",
  "((ID == x)",
  "1 == 1",
  'ID["x',
  'ID."x" == y',
  "ID == x AND ID == y",
  "NOT ID == x",
  "ID > 5",
  "Priority >= 50",
];

/** A filter expression over rows of a kind: most can be read, many fit the rows. */
export function expression(choose: Chooser, kind: string, depth = 2): string {
  if (depth === 2 && choose.chance(0.12)) return choose.pick(broken);
  const roll = choose.int(0, 99) / 100;
  if (depth > 0 && roll < 0.12) return `${expression(choose, kind, depth - 1)} and ${expression(choose, kind, depth - 1)}`;
  if (depth > 0 && roll < 0.24) return `${expression(choose, kind, depth - 1)} or ${expression(choose, kind, depth - 1)}`;
  if (depth > 0 && roll < 0.32) return `not ${expression(choose, kind, depth - 1)}`;
  if (depth > 0 && roll < 0.4) return `(${expression(choose, kind, depth - 1)})`;
  if (roll < 0.46) return quantified(choose, kind);
  return match(choose, choose.chance(0.12) ? choose.pick(wrong) : choose.pick(fields[kind] ?? ["ID"]));
}

function quantified(choose: Chooser, kind: string): string {
  const list = choose.pick([...(fields[kind] ?? ["ID"]), ...["Datacenters", "TaskGroups", "Meta", "Policies", "Tags"]]);
  const [names, inner] = choose.pick([
    ["x", "x"],
    ["k, v", "v"],
    ["k, v", "k"],
    ["x", "x.Name"],
    ["_, v", "v"],
  ] as const);
  return `${choose.pick(["any", "all"])} ${list} as ${names} { ${match(choose, inner)} }`;
}

function match(choose: Chooser, selector: string): string {
  // Ids are random: nothing is asked of their letters and figures that one might have and another not.
  const random = /ID$|Eval$|Allocation|^k$|^v$|^x$/.test(selector);
  const value = choose.pick(random ? values.filter((one) => !/^[\da-f.-]+$/.test(one)) : values);
  switch (choose.int(0, 9)) {
    case 0:
      return `${selector} is ${choose.pick(["empty", "not empty", "nil", "not nil"])}`;
    case 1:
      return `${value} ${choose.pick(["in", "not in"])} ${selector}`;
    case 2:
      return `${selector} ${choose.pick(["contains", "not contains"])} ${value}`;
    case 3:
    case 4:
      return `${selector} ${choose.pick(["matches", "not matches"])} ${choose.pick(random ? patterns.filter((one) => !/[a-z0-9]-|e\$|\\d/.test(one)) : patterns)}`;
    default:
      return `${selector} ${choose.pick(["==", "!="])} ${value}`;
  }
}
