import type { Rec } from "../../simulator/jobspec/values.ts";
import type { Chooser } from "./chooser.ts";

const second = 1_000_000_000;
/** How long the silence of a node is borne where it is not borne for longer than a life. */
export const SOON = 4 * second;

/** A job whose life is of interest rather than its text: what is placed, replaced, waited for and stopped. */
export function smallJob(choose: Chooser, name: string, datacenter: string): Rec {
  const type = choose.pick(["service", "service", "service", "service", "batch", "batch", "system", "sysbatch"]);
  const groups = choose.chance(0.35) ? choose.int(2, 3) : 1;
  const job: Rec = {
    ID: name,
    Name: choose.chance(0.1) ? "named-otherwise" : name,
    Type: type,
    Datacenters: [datacenter],
    TaskGroups: Array.from({ length: groups }, (_, i) => group(choose, type, `g${i}`)),
  };
  const ends = type === "sysbatch" || type === "batch";
  if (!ends && choose.chance(0.7)) job["Update"] = update(choose, type);
  if (ends && choose.chance(0.3)) job["ParameterizedJob"] = parameters(choose);
  if (ends && choose.chance(0.25)) job["Periodic"] = periodic(choose);
  if (choose.chance(0.2)) job["Meta"] = { a: "1" };
  return job;
}

function parameters(choose: Chooser): Rec {
  const meta = choose.pick([{ MetaOptional: ["a", "r"] }, { MetaOptional: ["a"], MetaRequired: ["r"] }]);
  return { Payload: choose.pick(["optional", "optional", "required", "forbidden"]), ...meta };
}

/** Its times are too rare to come during a life. */
function periodic(choose: Chooser): Rec {
  return { Spec: "0 0 1 1 *", SpecType: "cron", ProhibitOverlap: choose.chance(0.5), Enabled: choose.chance(0.9) };
}

function update(choose: Chooser, type: string): Rec {
  // Which nodes of a system job are renewed first is left to chance; so all of them are, or none.
  const system = type === "system";
  const canary = choose.pick(system ? [0, 0, 100] : [0, 0, 1, 2]);
  return {
    MaxParallel: choose.pick(system ? [0, 2, 3] : [0, 1, 1, 2, 3]),
    Canary: canary,
    AutoPromote: canary > 0 && choose.chance(0.4),
    AutoRevert: choose.chance(0.4),
    HealthCheck: "task_states",
    MinHealthyTime: second,
    HealthyDeadline: 60 * second,
    ProgressDeadline: choose.pick([0, 600 * second]),
  };
}

function group(choose: Chooser, type: string, name: string): Rec {
  const everywhere = type === "system" || type === "sysbatch";
  const found: Rec = { Name: name, Count: everywhere ? 1 : choose.pick([0, 1, 1, 2, 3, 4]), Tasks: [task(choose)] };
  if (!everywhere && choose.chance(0.5)) found["ReschedulePolicy"] = choose.pick(RESCHEDULES[type] ?? []);
  if (choose.chance(0.15)) found["Constraints"] = [choose.pick(CONSTRAINTS)];
  if (choose.chance(0.15)) found["EphemeralDisk"] = { Sticky: choose.chance(0.5), Migrate: choose.chance(0.5), SizeMB: 50 };
  if (!everywhere && choose.chance(0.15)) found["Affinities"] = [choose.pick(AFFINITIES)];
  if (!everywhere && choose.chance(0.15)) found["Spreads"] = [{ Attribute: "${node.class}", Weight: 50 }];
  if (type === "service" && choose.chance(0.15)) found["Scaling"] = { Min: 0, Max: 5, Enabled: true };
  if (type === "service" && choose.chance(0.15))
    found["Migrate"] = {
      MaxParallel: choose.pick([1, 2]),
      MinHealthyTime: second,
      HealthyDeadline: 60 * second,
      HealthCheck: "task_states",
    };
  if (choose.chance(0.25)) found["Disconnect"] = disconnect(choose, everywhere);
  if (choose.chance(0.2)) found["Networks"] = [{ DynamicPorts: [{ Label: "http" }] }];
  return found;
}

/** What happens when a node falls silent. Jobs that are everywhere may not say that clients stop their work by themselves. */
function disconnect(choose: Chooser, everywhere: boolean): Rec {
  if (!everywhere && choose.chance(0.15)) return { StopOnClientAfter: 2 * second };
  const Reconcile = choose.pick(["best_score", "keep_original", "keep_replacement", "longest_running"]);
  return { LostAfter: choose.pick([600 * second, 600 * second, SOON]), Replace: choose.chance(0.5), Reconcile };
}

const CONSTRAINTS: readonly Rec[] = [
  { Operand: "distinct_hosts", RTarget: "true" },
  { LTarget: "${node.class}", Operand: "=", RTarget: "big" },
  { LTarget: "${node.class}", Operand: "=", RTarget: "none" },
  { LTarget: "${node.unique.name}", Operand: "regexp", RTarget: "small" },
  { LTarget: "${node.class}", Operand: "distinct_property", RTarget: "1" },
];

const AFFINITIES: readonly Rec[] = [
  { LTarget: "${node.class}", Operand: "=", RTarget: "small", Weight: 100 },
  { LTarget: "${node.class}", Operand: "=", RTarget: "big", Weight: -50 },
];

const RESCHEDULES: Readonly<Record<string, readonly Rec[]>> = {
  service: [
    { Attempts: 0, Unlimited: false },
    { Attempts: 0, Unlimited: true, Delay: 30 * second, DelayFunction: "exponential", MaxDelay: 3600 * second },
    { Attempts: 2, Interval: 3600 * second, Delay: 30 * second, DelayFunction: "constant", Unlimited: false },
    { Attempts: 1, Interval: 3600 * second, Delay: 5 * second, DelayFunction: "constant", Unlimited: false },
    { Attempts: 0, Unlimited: true, Delay: 5 * second, DelayFunction: "fibonacci", MaxDelay: 3600 * second },
  ],
  batch: [
    { Attempts: 0, Unlimited: false },
    { Attempts: 1, Interval: 3600 * second, Delay: 30 * second, DelayFunction: "constant", Unlimited: false },
    { Attempts: 2, Interval: 3600 * second, Delay: 5 * second, DelayFunction: "exponential", MaxDelay: 60 * second },
  ],
};

function task(choose: Chooser): Rec {
  return {
    Name: "t",
    Driver: choose.chance(0.05) ? "docker" : "raw_exec",
    Config: { command: "/bin/sleep", args: ["1000"] },
    Resources: { CPU: choose.pick([100, 500]), MemoryMB: choose.pick([64, 300, 900]) },
    ...(choose.chance(0.2) ? { Services: [{ Name: "s", Provider: "nomad", Tags: ["a"] }] } : {}),
  };
}

/** Another version of a small job: something that restarts its tasks, something that does not, or another number of them. */
export function changedSmallJob(choose: Chooser, job: Rec): Rec {
  const next = structuredClone(job);
  const groups = next["TaskGroups"] as Rec[];
  const one = choose.pick(groups);
  const [inside] = one["Tasks"] as Rec[];
  switch (choose.int(0, 9)) {
    case 0:
    case 1:
    case 2:
      if (inside !== undefined) inside["Env"] = { V: String(choose.int(0, 3)) };
      break;
    case 3:
      next["Priority"] = choose.pick([40, 50, 60]);
      break;
    case 4:
    case 5:
      one["Count"] = job["Type"] === "service" || job["Type"] === "batch" ? choose.int(0, 5) : 1;
      break;
    case 6:
      if (groups.length > 1) groups.pop();
      else groups.push({ ...structuredClone(one), Name: "g1" });
      break;
    case 7:
      next["Meta"] = choose.chance(0.5) ? { a: String(choose.int(0, 2)) } : null;
      break;
    case 8:
      one["Constraints"] = choose.chance(0.5) ? null : [choose.pick(CONSTRAINTS)];
      break;
    default:
      if (job["Type"] === "service" || job["Type"] === "system") next["Update"] = update(choose, String(job["Type"]));
  }
  return next;
}
