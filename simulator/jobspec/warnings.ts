import { goQuote } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import type { ServerJob } from "./types.ts";
import { flag, isUnset, num, type Rec, rec, recs, str, strings } from "./values.ts";

/** What Nomad says about a job that it accepts: dubious settings and deprecated ones, one text each. */
export function jobWarnings(job: ServerJob): string[] {
  const warnings: string[] = [];
  const groups = recs(job, "TaskGroups");
  for (const group of groups) {
    const found = groupWarnings(group);
    if (found.length > 0) warnings.push(`Group ${goQuote(str(group, "Name"))} has warnings: ${listErrors(found)}`);
  }
  for (const group of groups) warnings.push(...shutdownDelayWarnings(group));
  const updates = groups.map((group) => rec(group, "Update")).filter((u) => u !== undefined);
  if (updates.some((u) => flag(u, "AutoPromote")) && !updates.every((u) => num(u, "Canary") === 0 || flag(u, "AutoPromote"))) {
    warnings.push("auto_promote must be true for all groups to enable automatic promotion");
  }
  if (str(rec(job, "Periodic"), "Spec") !== "") {
    warnings.push("cron is deprecated and may be removed in a future release. Use crons instead");
  }
  return warnings;
}

function groupWarnings(group: Rec): string[] {
  const warnings: string[] = [];
  const count = num(group, "Count");
  const parallel = num(rec(group, "Update"), "MaxParallel");
  if (rec(group, "Update") !== undefined && count > 1 && parallel > count) {
    warnings.push(
      `Update max parallel count is greater than task group count (${parallel} > ${count}). ` +
        "A destructive change would result in the simultaneous replacement of all allocations.",
    );
  }
  if (num(recs(group, "Networks")[0], "MBits") > 0) {
    warnings.push("mbits has been deprecated as of Nomad 0.12.0. Please remove mbits from the network block");
  }
  warnings.push(...recs(group, "Services").flatMap(serviceWarnings));
  for (const task of recs(group, "Tasks")) {
    const found = taskWarnings(task);
    if (found.length > 0) warnings.push(`Task ${goQuote(str(task, "Name"))} has warnings: ${listErrors(found)}`);
  }
  return warnings;
}

function taskWarnings(task: Rec): string[] {
  const warnings: string[] = [];
  const resources = rec(task, "Resources");
  if (num(resources, "IOPS") !== 0) {
    warnings.push("IOPS has been deprecated as of Nomad 0.9.0. Please remove IOPS from resource block.");
  }
  if (recs(resources, "Networks").length > 0) {
    warnings.push(
      "task network resources have been deprecated as of Nomad 0.12.0. Please configure networking via group network block.",
    );
  }
  for (const [index, template] of recs(task, "Templates").entries()) {
    if (num(template, "VaultGrace") === 0) continue;
    warnings.push(
      `Template[${index}] VaultGrace has been deprecated as of Nomad 0.11 and ignored since Vault 0.5. ` +
        "Please remove VaultGrace / vault_grace from template block.",
    );
  }
  warnings.push(...recs(task, "Services").flatMap(serviceWarnings));
  for (const identity of recs(task, "Identities")) {
    const found = identityWarnings(identity).map((w) => `Identity[${str(identity, "Name")}] ${w}`);
    if (found.length > 0) warnings.push(listErrors(found));
  }
  return warnings;
}

function serviceWarnings(service: Rec): string[] {
  const identity = rec(service, "Identity");
  if (identity === undefined) return [];
  return identityWarnings(identity).map((w) => `Service ${goQuote(str(service, "Name"))}: ${w}`);
}

function identityWarnings(identity: Rec): string[] {
  const warnings: string[] = [];
  const audiences = strings(identity, "Audience").length;
  if (audiences === 0) warnings.push("identities without an audience are insecure");
  if (audiences > 1) {
    warnings.push("while multiple audiences is allowed, it is more secure to use 1 audience per identity");
  }
  const name = str(identity, "Name");
  if (name !== "" && name !== "default" && num(identity, "TTL") === 0) {
    warnings.push("identities without an expiration are insecure");
  }
  if (flag(identity, "Env") && identity["ChangeMode"] !== "restart") {
    warnings.push('using env=true without change_mode="restart" may result in task not getting updated identity');
  }
  return warnings;
}

/** A service that vanishes from the catalogue needs a moment before its task ends. */
function shutdownDelayWarnings(group: Rec): string[] {
  const warnings: string[] = [];
  const groupName = goQuote(str(group, "Name"));
  const referenced = new Set<string>();
  let unscoped = false;
  for (const service of recs(group, "Services")) {
    const sidecar = rec(rec(service, "Connect"), "SidecarTask");
    if (str(service, "TaskName") !== "") referenced.add(str(service, "TaskName"));
    else if (sidecar !== undefined) {
      if (!isUnset(sidecar["ShutdownDelay"])) continue;
      warnings.push(
        `service ${goQuote(str(service, "Name"))} defines a sidecar task in Consul Connect definition, but the task has no shutdown_delay set`,
      );
    } else unscoped = true;
  }
  let anyDelay = num(group, "ShutdownDelay") > 0;
  for (const task of recs(group, "Tasks")) {
    const name = goQuote(str(task, "Name"));
    const delay = num(task, "ShutdownDelay");
    if (referenced.has(str(task, "Name")) && delay === 0) {
      warnings.push(`group ${groupName} references task ${name} in a service definition, but the task has no shutdown_delay set`);
    }
    if (delay > 0) anyDelay = true;
    else if (recs(task, "Services").length > 0) {
      warnings.push(`task ${name} in group ${groupName} defines services, but has no shutdown_delay set`);
    }
  }
  if (unscoped && !anyDelay) {
    warnings.push(`group ${groupName} defines services, but neither the group nor any of its tasks have shutdown_delay set`);
  }
  return warnings;
}
