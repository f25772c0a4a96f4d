import { isUnset, type Rec, rec, recs, str } from "../../simulator/jobspec/values.ts";

/** Makes the parts of a random job fit together where chance alone hardly would. Changes the job. */
export function cohere(job: Rec): void {
  for (const group of recs(job, "TaskGroups")) {
    const tasks = recs(group, "Tasks");
    const [first] = tasks;
    // At least one task is no hook.
    if (first !== undefined && tasks.every((task) => !isUnset(task["Lifecycle"]))) delete first["Lifecycle"];
    nameServicesApart(group);
    giveNetwork(group, tasks);
    giveVolumes(group, tasks);
    for (const task of tasks) apart(task, "Templates", "DestPath", "local/t");
    for (const task of tasks) apart(task, "Identities", "Name", "id");
  }
}

/** Entries that must differ in one field. */
function apart(holder: Rec, list: string, field: string, stem: string): void {
  for (const [i, item] of recs(holder, list).entries()) if (i > 0) item[field] = `${stem}${i}`;
}

/** Of several fields that exclude each other only one stays: the one that stands earliest in the list, turn by turn. */
function onlyOne(holder: Rec, keys: readonly string[], turn: number): void {
  const present = keys.filter((key) => !isUnset(holder[key]));
  const kept = present[turn % Math.max(1, present.length)];
  for (const key of present) if (key !== kept) delete holder[key];
}

function chooseConnect(service: Rec, turn: number): void {
  const connect = rec(service, "Connect");
  if (connect === undefined) return;
  onlyOne(connect, ["Gateway", "SidecarService"], turn);
  delete connect["Native"];
  if (isUnset(connect["Gateway"])) connect["SidecarService"] ??= {};
  const gateway = rec(connect, "Gateway");
  if (gateway === undefined) return;
  onlyOne(gateway, ["Mesh", "Terminating", "Ingress"], turn + 1);
  if (["Mesh", "Terminating", "Ingress"].every((key) => isUnset(gateway[key])))
    gateway["Terminating"] = { Services: [{ Name: "db" }] };
}

function nameServicesApart(group: Rec): void {
  apart(group, "Services", "Name", "svc");
  for (const [i, service] of recs(group, "Services").entries()) chooseConnect(service, str(service, "Name").length + i);
  const providers = [...recs(group, "Services"), ...recs(group, "Tasks").flatMap((task) => recs(task, "Services"))];
  const provider = providers.some((service) => !isUnset(service["Connect"])) ? "consul" : str(providers[0], "Provider");
  for (const service of providers) {
    if (provider === "") delete service["Provider"];
    else service["Provider"] = provider;
  }
}

/** Services refer to ports, and Connect wants one network in bridge mode. */
function giveNetwork(group: Rec, tasks: readonly Rec[]): void {
  const services = [...recs(group, "Services"), ...tasks.flatMap((task) => recs(task, "Services"))];
  if (services.length === 0) return;
  const connected = services.some((service) => !isUnset(service["Connect"]));
  const [network] = recs(group, "Networks");
  const wanted: Rec = { ...network, DynamicPorts: ["http", "admin"].map((Label) => ({ Label })) };
  if (connected) wanted["Mode"] = "bridge";
  group["Networks"] = [wanted];
}

function giveVolumes(group: Rec, tasks: readonly Rec[]): void {
  const mounted = tasks.flatMap((task) => recs(task, "VolumeMounts").map((mount) => str(mount, "Volume")));
  if (mounted.length === 0) return;
  const volumes: Rec = { ...rec(group, "Volumes") };
  for (const name of mounted) volumes[name] ??= { Name: name, Type: "host", Source: "data-src" };
  group["Volumes"] = volumes;
}
