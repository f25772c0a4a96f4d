import type { JobExtras } from "./decode-job.ts";
import { fill, SECOND } from "./defaults.ts";
import { emptyApi } from "./empty.ts";
import { isUnset, num, type Rec, rec, recs, str } from "./values.ts";

/** What Nomad's parse sets after reading a job file, canonical or not (nomad-api §1). Changes the job. */
export function normalizeJob(job: Rec, extras: JobExtras, label: string): void {
  job["Name"] ??= label;
  job["ID"] ??= label;
  const periodic = rec(job, "Periodic");
  if (periodic !== undefined && !(isUnset(periodic["Spec"]) && isUnset(periodic["Specs"]))) periodic["SpecType"] = "cron";
  if (extras.vault !== undefined) normalizeVault(extras.vault);
  if (extras.tasks.length > 0) {
    const alone = extras.tasks.map((task) => ({ ...emptyApi("TaskGroup"), Name: task["Name"], Tasks: [task] }));
    job["TaskGroups"] = [...alone, ...recs(job, "TaskGroups")];
  }
  for (const group of recs(job, "TaskGroups")) {
    normalizePorts(group);
    for (const task of recs(group, "Tasks")) normalizeTask(task, extras);
  }
}

function normalizeVault(vault: Rec): void {
  fill(vault, { Env: true, DisableFile: false, ChangeMode: "restart" });
}

/** A `port` block with a static number is a reserved port. */
function normalizePorts(holder: Rec): void {
  for (const network of recs(holder, "Networks")) {
    const ports = recs(network, "DynamicPorts");
    if (ports.length === 0) continue;
    const [fixed, dynamic] = [ports.filter((p) => num(p, "Value") > 0), ports.filter((p) => num(p, "Value") <= 0)];
    network["DynamicPorts"] = dynamic.length === 0 ? null : dynamic;
    network["ReservedPorts"] = fixed.length === 0 ? null : fixed;
  }
}

function normalizeTask(task: Rec, extras: JobExtras): void {
  const resources = rec(task, "Resources");
  if (resources !== undefined) normalizePorts(resources);
  for (const template of recs(task, "Templates")) normalizeTemplate(template);
  const vault = rec(task, "Vault");
  if (vault !== undefined) normalizeVault(vault);
  task["Vault"] ??= extras.vault ?? null;
  const secrets = [...recs(task, "Secrets"), ...extras.secrets];
  task["Secrets"] = secrets.length === 0 ? null : secrets;
  const identities = recs(task, "Identities");
  const own = identities.find((identity) => str(identity, "Name") === "" || str(identity, "Name") === "default");
  if (own === undefined) return;
  task["Identity"] = own;
  task["Identities"] = identities.filter((identity) => identity !== own);
}

function normalizeTemplate(template: Rec): void {
  fill(template, { ChangeMode: "restart", Perms: "0644", Splay: 5 * SECOND, ErrMissingKey: false });
  const script = rec(template, "ChangeScript");
  if (script === undefined) return;
  if (isUnset(script["Args"])) script["Args"] = [];
  fill(script, { Timeout: 5 * SECOND, FailOnError: false, RunOnFirstRender: false });
}
