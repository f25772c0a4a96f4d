import type { ServerJob } from "./types.ts";
import { flag, type Rec, rec, recs, str } from "./values.ts";

export interface Constraint extends Rec {
  LTarget: string;
  RTarget: string;
  Operand: string;
}

export function constraint(LTarget: string, Operand: string, RTarget: string): Constraint {
  return { LTarget, RTarget, Operand };
}

/** The attribute that says the version of the Consul of that name. */
export function consulVersion(cluster: string, range = ">= 1.8.0"): Constraint {
  const attribute = cluster === "default" || cluster === "" ? "${attr.consul.version}" : `\${attr.consul.${cluster}.version}`;
  return constraint(attribute, "semver", range);
}

/** Whether a service registers in Consul. */
export function isConsul(service: Rec): boolean {
  const provider = str(service, "Provider");
  return provider === "consul" || provider === "";
}

const CNI_PLUGINS = ["bridge", "firewall", "host-local", "loopback", "portmap"] as const;

/**
 * Adds the constraints that other fields of the job imply, unless the job says the same already (nomad-api §2.5).
 * `byAttribute`: a constraint of the job's own on the same attribute is enough.
 */
export function addImpliedConstraints(job: ServerJob): void {
  const secretProviders = recs(job, "TaskGroups").flatMap(providersOfSecrets);
  for (const group of recs(job, "TaskGroups")) {
    for (const c of vaultConstraints(group)) add(group, c, true);
    for (const provider of secretProviders)
      add(group, constraint(`\${attr.plugins.secrets.${provider}.version}`, "is_set", ""), true);
    addNuma(group);
    const signals = requiredSignals(group);
    if (signals.length > 0) add(group, constraint("${attr.os.signals}", "set_contains", signals.join(",")), false);
    addServiceDiscovery(group);
    addNetwork(group);
    if (recs(group, "Tasks").some((task) => rec(task, "Schedule") !== undefined)) {
      add(group, constraint("${attr.nomad.version}", "semver", ">= 1.8.0-dev"), true);
    }
  }
}

function add(holder: Rec, implied: Constraint, byAttribute: boolean): void {
  const stated = recs(holder, "Constraints");
  const found = stated.some(
    (c) =>
      c["LTarget"] === implied.LTarget && (byAttribute || (c["RTarget"] === implied.RTarget && c["Operand"] === implied.Operand)),
  );
  if (!found) holder["Constraints"] = [...stated, implied];
}

function vaultConstraints(group: Rec): Constraint[] {
  const tasks = recs(group, "Tasks").filter((task) => rec(task, "Vault") !== undefined);
  tasks.sort((a, b) => (str(a, "Name") < str(b, "Name") ? -1 : 1));
  return tasks.map((task) => {
    const cluster = str(rec(task, "Vault"), "Cluster");
    if (cluster === "default" || cluster === "") return constraint("${attr.vault.version}", "semver", ">= 0.6.1");
    return constraint(`\${attr.vault.${cluster}.version}`, "semver", ">= 1.11.0");
  });
}

/** Nomad applies the secret providers of every group to all groups. */
function providersOfSecrets(group: Rec): string[] {
  const providers = recs(group, "Tasks").flatMap((task) => recs(task, "Secrets").map((secret) => str(secret, "Provider")));
  return [...new Set(providers)];
}

function addNuma(group: Rec): void {
  const asked = recs(group, "Tasks").some((task) => numaRequested(rec(task, "Resources")));
  if (!asked) return;
  add(group, constraint("${attr.nomad.version}", "semver", ">= 1.6.3-dev"), false);
  add(group, constraint("${attr.kernel.name}", "=", "linux"), false);
}

/** Whether resources ask for NUMA placement. */
export function numaRequested(resources: Rec | undefined): boolean {
  const affinity = str(rec(resources, "NUMA"), "Affinity");
  return affinity !== "" && affinity !== "none";
}

/** Signals that the tasks of a group need, sorted. */
function requiredSignals(group: Rec): string[] {
  const signals = new Set<string>();
  for (const task of recs(group, "Tasks")) {
    const vault = rec(task, "Vault");
    if (vault !== undefined && vault["ChangeMode"] === "signal") signals.add(str(vault, "ChangeSignal"));
    if (str(task, "KillSignal") !== "") signals.add(str(task, "KillSignal"));
    for (const template of recs(task, "Templates")) {
      if (template["ChangeMode"] === "signal") signals.add(str(template, "ChangeSignal"));
    }
  }
  return [...signals].sort();
}

function addServiceDiscovery(group: Rec): void {
  const groupServices = recs(group, "Services");
  const services = [...groupServices, ...recs(group, "Tasks").flatMap((task) => recs(task, "Services"))];
  if (services.length === 0) return;
  const native = services.filter((service) => service["Provider"] === "nomad");
  if (native.length > 0) add(group, constraint("${attr.nomad.service_discovery}", "=", "true"), false);
  if (native.some((service) => recs(service, "Checks").length > 0)) {
    add(group, constraint("${attr.nomad.version}", "semver", ">= 1.4.0"), false);
  }
  for (const service of groupServices) if (isConsul(service)) add(group, consulVersion(str(service, "Cluster")), true);
  for (const task of recs(group, "Tasks")) {
    for (const service of recs(task, "Services")) if (isConsul(service)) add(task, consulVersion(str(service, "Cluster")), true);
  }
}

function addNetwork(group: Rec): void {
  if (recs(group, "Networks").some((network) => network["Mode"] === "bridge")) {
    for (const plugin of CNI_PLUGINS)
      add(group, constraint(`\${attr.plugins.cni.version.${plugin}}`, "semver", ">= 0.4.0"), true);
  }
  const transparent = recs(group, "Services").some((service) => {
    const sidecar = rec(rec(service, "Connect"), "SidecarService");
    return rec(rec(sidecar, "Proxy"), "TransparentProxy") !== undefined;
  });
  if (!transparent) return;
  add(group, constraint("${attr.plugins.cni.version.consul-cni}", "semver", ">= 1.4.2"), true);
  add(group, constraint("${attr.nomad.version}", "semver", ">= 1.8.0-dev"), true);
}

/** Whether a check of a Connect service asks for a path through the proxy. */
export function hasExposedCheck(service: Rec): boolean {
  return recs(service, "Checks").some((check) => flag(check, "Expose"));
}
