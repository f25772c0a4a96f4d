import { goQuote } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import type { ServerJob } from "./types.ts";
import { validateAffinities, validateConstraints, validateSpreads } from "./validate-constraint.ts";
import { networksProblems } from "./validate-network.ts";
import {
  disconnectProblems,
  headed,
  migrateProblems,
  rescheduleProblems,
  restartProblems,
  updateProblems,
} from "./validate-policy.ts";
import { groupServicesProblems, scriptCheckProblems } from "./validate-service.ts";
import { taskProblems } from "./validate-task.ts";
import { volumeProblems } from "./validate-volume.ts";
import { flag, num, type Rec, rec, recEntries, recs, str } from "./values.ts";

/** What is wrong with a group, in Nomad's order. */
export function groupProblems(group: Rec, job: ServerJob): string[] {
  const type = str(job, "Type");
  return [
    ...headProblems(group, type),
    ...validateConstraints(group),
    ...validateAffinities(group, type),
    ...policyProblems(group, type),
    ...tasksProblems(group),
    ...recEntries(group, "Volumes").flatMap(([name, volume]) =>
      headed(
        `Task group volume validation for ${name} failed`,
        volumeProblems(volume, type, num(group, "Count"), num(rec(group, "Update"), "Canary")),
      ),
    ),
    ...headed("Task group network validation failed", networksProblems(group)),
    ...headed("Task group service validation failed", groupServicesProblems(group)),
    ...headed("Task group service check validation failed", scriptCheckProblems(group)),
    ...headed("Task group scaling policy validation failed", scalingProblems(group)),
    ...recs(group, "Tasks").flatMap((task) =>
      headed(`Task ${str(task, "Name")} validation failed`, taskProblems(task, group, type)),
    ),
  ];
}

function headProblems(group: Rec, type: string): string[] {
  const problems: string[] = [];
  const name = str(group, "Name");
  if (name === "") problems.push("Missing task group name");
  else if (name.includes("\0")) problems.push("Task group name contains null character");
  if (num(group, "Count") < 0) problems.push("Task group count can't be negative");
  if (recs(group, "Tasks").length === 0) problems.push("Missing tasks for task group");
  const disconnect = rec(group, "Disconnect");
  if (disconnect !== undefined) problems.push(...disconnectProblems(disconnect, type));
  const maxRun = group["MaxRunDuration"];
  if (typeof maxRun === "number") {
    if (maxRun <= 0) problems.push("MaxRunDuration must be greater than zero");
    if (type !== "batch" && type !== "sysbatch") problems.push(`Job type ${goQuote(type)} does not allow max_run_duration`);
  }
  return problems;
}

function policyProblems(group: Rec, type: string): string[] {
  const problems: string[] = [];
  const name = str(group, "Name");
  const [restart, reschedule, update, migrate] = ["RestartPolicy", "ReschedulePolicy", "Update", "Migrate"].map((k) =>
    rec(group, k),
  );
  problems.push(...(restart === undefined ? [`Task Group ${name} should have a restart policy`] : restartProblems(restart)));
  problems.push(...validateSpreads(group, type));
  if (type === "system" || type === "sysbatch") {
    if (reschedule !== undefined) problems.push("System or sysbatch jobs should not have a reschedule policy");
  } else if (reschedule === undefined) problems.push(`Task Group ${name} should have a reschedule policy`);
  else problems.push(...rescheduleProblems(reschedule));
  const disk = num(rec(group, "EphemeralDisk"), "SizeMB");
  if (disk < 10) problems.push(`minimum DiskMB value is 10; got ${disk}`);
  if (update !== undefined) {
    if (type !== "service" && type !== "system") problems.push(`Job type ${goQuote(type)} does not allow update block`);
    problems.push(...updateProblems(update));
  }
  if (migrate !== undefined) {
    problems.push(
      ...(type === "service" ? migrateProblems(migrate) : [`Job type ${goQuote(type)} does not allow migrate block`]),
    );
  }
  return problems;
}

function tasksProblems(group: Rec): string[] {
  const problems: string[] = [];
  const tasks = recs(group, "Tasks");
  const places = new Map<string, number>();
  for (const [i, task] of tasks.entries()) {
    const name = str(task, "Name");
    const other = places.get(name);
    if (name === "") problems.push(`Task ${i + 1} missing name`);
    else if (other !== undefined) problems.push(`Task ${i + 1} redefines '${name}' from task ${other + 1}`);
    else places.set(name, i);
  }
  if (tasks.filter((task) => flag(task, "Leader")).length > 1) problems.push("Only one task may be marked as leader");
  const hasMain = tasks.some((task) => str(rec(task, "Lifecycle"), "Hook") === "");
  if (tasks.length > 0 && !hasMain) problems.push(`Task group ${str(group, "Name")} must have at least one main task`);
  return problems;
}

function scalingProblems(group: Rec): string[] {
  const scaling = rec(group, "Scaling");
  if (scaling === undefined) return [];
  const problems: string[] = [];
  const [min, max, count, type] = [num(scaling, "Min"), num(scaling, "Max"), num(group, "Count"), str(scaling, "Type")];
  if (type !== "horizontal") problems.push(`scaling policy type "${type}" is not valid`);
  else {
    const target = rec(scaling, "Target");
    for (const [key, word] of [
      ["Namespace", "namespace"],
      ["Job", "job"],
      ["Group", "group"],
    ] as const) {
      if (str(target, key) === "") problems.push(`missing target ${word}`);
    }
  }
  if (max < 0) problems.push("maximum count must be specified and non-negative");
  else if (max < min) problems.push("maximum count must not be less than minimum count");
  if (min < 0) problems.push("minimum count must be specified and non-negative");
  if (max < count) problems.push("task group count must not be greater than maximum count in scaling policy");
  if (count < min) problems.push("task group count must not be less than minimum count in scaling policy");
  return problems.map((problem) => `Scaling policy invalid: ${problem}`);
}

/** The group as one line of the job's list, when something is wrong with it. */
export function groupProblem(group: Rec, job: ServerJob): string[] {
  const problems = groupProblems(group, job);
  return problems.length === 0 ? [] : [`Task group ${str(group, "Name")} validation failed: ${listErrors(problems)}`];
}
