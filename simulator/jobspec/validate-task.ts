import { posix } from "node:path";
import { goDuration, goQuote } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import { deviceConstraintProblems, validateAffinities, validateConstraints } from "./validate-constraint.ts";
import { artifactProblems, escapesAllocation, templateProblems } from "./validate-files.ts";
import { headed, nested } from "./validate-policy.ts";
import { taskServicesProblems } from "./validate-service.ts";
import { mountProblems } from "./validate-volume.ts";
import { flag, num, type Rec, rec, recs, str, strings } from "./values.ts";

/** What is wrong with a task, in Nomad's order. */
export function taskProblems(task: Rec, group: Rec, jobType: string): string[] {
  return [
    ...nameProblems(task, group, jobType),
    ...nested(resourcesProblems(rec(task, "Resources") ?? {})),
    ...nested(logsProblems(rec(task, "LogConfig") ?? {}, num(rec(group, "EphemeralDisk"), "SizeMB"))),
    ...placementProblems(task, jobType),
    ...nested(taskServicesProblems(task, group)),
    ...recs(task, "Artifacts").flatMap((artifact, i) =>
      headed(`Artifact ${i + 1} validation failed`, artifactProblems(artifact)),
    ),
    ...vaultProblems(task),
    ...templatesProblems(task),
    ...actionsProblems(task),
    ...dispatchProblems(task),
    ...proxyProblems(task, group),
    ...mountsProblems(task, group),
    ...csiProblems(task),
    ...identitiesProblems(task),
    ...secretsProblems(task),
  ];
}

function nameProblems(task: Rec, group: Rec, jobType: string): string[] {
  const problems: string[] = [];
  const name = str(task, "Name");
  if (name === "") problems.push("Missing task name");
  if (name === "alloc") problems.push('Task cannot be named "alloc"');
  if (/[/\\]/.test(name)) problems.push("Task name cannot include slashes");
  else if (name.includes("\0")) problems.push("Task name cannot include null characters");
  if (str(task, "Driver") === "") problems.push("Missing task driver");
  const [kill, progress] = [num(task, "KillTimeout"), num(rec(group, "Update"), "ProgressDeadline")];
  if (kill < 0) problems.push("KillTimeout must be a positive value");
  else if (jobType === "service" && progress > 0 && kill > progress) {
    problems.push(`KillTimout (${goDuration(kill)}) longer than the group's ProgressDeadline (${goDuration(progress)})`);
  }
  if (num(task, "ShutdownDelay") < 0) problems.push("ShutdownDelay must be a positive value");
  return problems;
}

function resourcesProblems(resources: Rec): string[] {
  const problems: string[] = [];
  const [cpu, cores, memory] = [num(resources, "CPU"), num(resources, "Cores"), num(resources, "MemoryMB")];
  if (cores > 0 && cpu > 0) problems.push("Task can only ask for 'cpu' or 'cores' resource, not both.");
  if (cores < 0) problems.push(`cores value (${cores}) cannot be negative`);
  const small: string[] = [];
  if (cpu < 1 && cores === 0) small.push(`minimum CPU value is 1; got ${cpu}`);
  if (memory < 10) small.push(`minimum MemoryMB value is 10; got ${memory}`);
  problems.push(...nested(small));
  const devices = recs(resources, "Devices");
  for (const [i, device] of devices.entries()) {
    const missing =
      str(device, "Name") === ""
        ? ["device name must be given as one of the following: type, vendor/type, or vendor/type/name"]
        : [];
    problems.push(...headed(`device ${i + 1} failed validation`, [...missing, ...deviceConstraintProblems(device)]));
  }
  problems.push(...numaProblems(rec(resources, "NUMA"), new Set(devices.map((device) => str(device, "Name")))));
  const max = num(resources, "MemoryMaxMB");
  if (max !== 0 && max !== -1 && max < memory) {
    problems.push(`MemoryMaxMB value (${max}) should be larger than MemoryMB value (${memory})`);
  }
  const secrets = num(resources, "SecretsMB");
  if (secrets > memory) problems.push(`SecretsMB value (${secrets}) cannot be larger than MemoryMB value (${memory})`);
  if (secrets < 0) problems.push(`SecretsMB value (${secrets}) cannot be negative`);
  return problems;
}

function numaProblems(numa: Rec | undefined, devices: ReadonlySet<string>): string[] {
  if (numa === undefined) return [];
  const problems = strings(numa, "Devices")
    .filter((device) => !devices.has(device))
    .map((device) => `numa device ${goQuote(device)} not requested as task resource`);
  if (!["none", "prefer", "require"].includes(str(numa, "Affinity"))) {
    problems.push("numa affinity must be one of none, prefer, or require");
  }
  return problems;
}

function logsProblems(logs: Rec, diskMb: number): string[] {
  const problems: string[] = [];
  const [files, size] = [num(logs, "MaxFiles"), num(logs, "MaxFileSizeMB")];
  if (files < 1) problems.push(`minimum number of files is 1; got ${files}`);
  if (size < 1) problems.push(`minimum file size is 1MB; got ${size}`);
  if (diskMb <= files * size) {
    problems.push(`log storage (${files * size} MB) must be less than requested disk capacity (${diskMb} MB)`);
  }
  return problems;
}

function placementProblems(task: Rec, jobType: string): string[] {
  const problems: string[] = [];
  for (const [i, constraint] of recs(task, "Constraints").entries()) {
    // One constraint after the other: its own problem, then the operand that no task may use.
    problems.push(
      ...validateConstraints({ Constraints: [constraint] }).map((p) => p.replace("Constraint 1 ", `Constraint ${i + 1} `)),
    );
    const operand = str(constraint, "Operand");
    if (operand === "distinct_hosts" || operand === "distinct_property") {
      problems.push(`Constraint ${i + 1} has disallowed Operand at task level: ${operand}`);
    }
  }
  return [...problems, ...validateAffinities(task, jobType)];
}

function vaultProblems(task: Rec): string[] {
  const vault = rec(task, "Vault");
  if (vault === undefined) return [];
  const [mode, signal] = [str(vault, "ChangeMode"), str(vault, "ChangeSignal")];
  const problems: string[] = [];
  if (mode === "signal") {
    if (signal === "") problems.push('Signal must be specified when using change mode "signal"');
  } else if (mode !== "noop" && mode !== "restart") problems.push(`Unknown change mode ${goQuote(mode)}`);
  return headed("Vault validation failed", problems);
}

function templatesProblems(task: Rec): string[] {
  const problems: string[] = [];
  const destinations = new Map<string, number>();
  for (const [i, template] of recs(task, "Templates").entries()) {
    problems.push(...headed(`Template ${i + 1} validation failed`, templateProblems(template)));
    const destination = str(template, "DestPath");
    const other = destinations.get(destination);
    if (other !== undefined) problems.push(`Template ${i + 1} has same destination as ${other}`);
    else destinations.set(destination, i + 1);
  }
  return problems;
}

function actionsProblems(task: Rec): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  const told = new Set<string>();
  for (const action of recs(task, "Actions")) {
    const name = str(action, "Name");
    const own: string[] = [];
    if (str(action, "Command") === "") own.push("command cannot be empty");
    if (!/^[^\0\s]{1,128}$/.test(name)) own.push(`invalid name '${name}'`);
    problems.push(...headed(`Action ${name} validation failed`, own));
    if (seen.has(name) && !told.has(name)) {
      problems.push(`Action ${name} defined multiple times`);
      told.add(name);
    }
    seen.add(name);
  }
  return problems;
}

function dispatchProblems(task: Rec): string[] {
  const problems: string[] = [];
  const dispatch = rec(task, "DispatchPayload");
  if (dispatch !== undefined && escapesAllocation("task/local/", str(dispatch, "File"))) {
    problems.push("Dispatch Payload validation failed: destination escapes allocation directory");
  }
  const lifecycle = rec(task, "Lifecycle");
  if (lifecycle === undefined) return problems;
  const hook = str(lifecycle, "Hook");
  if (hook === "") problems.push("Lifecycle validation failed: no lifecycle hook provided");
  else if (!["prestart", "poststart", "poststop"].includes(hook))
    problems.push(`Lifecycle validation failed: invalid hook: ${hook}`);
  return problems;
}

function proxyProblems(task: Rec, group: Rec): string[] {
  const kind = str(task, "Kind");
  if (!kind.startsWith("connect-proxy:") || kind.length <= "connect-proxy:".length) return [];
  const problems: string[] = [];
  if (recs(task, "Services").length > 0) problems.push("Connect proxy task must not have a service block");
  if (flag(task, "Leader")) problems.push("Connect proxy task must not have leader set");
  const service = kind.slice("connect-proxy:".length);
  const connected = recs(group, "Services").filter((s) => rec(rec(s, "Connect"), "SidecarService") !== undefined);
  const names = connected.map((s) => str(s, "Name"));
  if (names.includes(service)) return problems;
  problems.push(
    names.length === 0
      ? `No Connect services in task group with Connect proxy (${goQuote(service)})`
      : `Connect proxy service name (${goQuote(service)}) not found in Connect services from task group: [${names.join(" ")}]`,
  );
  return problems;
}

function mountsProblems(task: Rec, group: Rec): string[] {
  const volumes = rec(group, "Volumes") ?? {};
  return recs(task, "VolumeMounts").flatMap((mount, i) => {
    const wanted = str(mount, "Volume");
    const unknown = wanted in volumes ? [] : [`Volume Mount (${i}) references undefined volume ${wanted}`];
    const own = mountProblems(mount);
    return own.length === 0 ? unknown : [...unknown, `Volume Mount (${i}) is invalid: "${listErrors(own)}"`];
  });
}

function csiProblems(task: Rec): string[] {
  const csi = rec(task, "CSIPluginConfig");
  if (csi === undefined) return [];
  const problems: string[] = [];
  const type = str(csi, "Type");
  if (str(csi, "ID") === "") problems.push("CSIPluginConfig must have a non-empty PluginID");
  if (!["node", "controller", "monolith"].includes(type)) {
    problems.push(`CSIPluginConfig PluginType must be one of 'node', 'controller', or 'monolith', got: "${type}"`);
  }
  const [base, mount] = [str(csi, "StagePublishBaseDir"), str(csi, "MountDir")];
  const relative = posix.relative(mount, base);
  if (base !== "" && mount !== "" && mount.startsWith("/") === base.startsWith("/") && !relative.startsWith("..")) {
    problems.push(
      "CSIPluginConfig StagePublishBaseDir must not be a subdirectory of MountDir, got: " +
        `StagePublishBaseDir="${base}" MountDir="${mount}"`,
    );
  }
  return problems;
}

function identitiesProblems(task: Rec): string[] {
  const problems: string[] = [];
  const invalid = (identity: Rec) => headed(`Identity ${goQuote(str(identity, "Name"))} is invalid`, identityProblems(identity));
  const own = rec(task, "Identity");
  if (own !== undefined) problems.push(...invalid(own));
  for (const identity of recs(task, "Identities")) {
    if (str(identity, "Name") === "default") problems.push("Duplicate default identities found");
    problems.push(...invalid(identity));
  }
  return problems;
}

function identityProblems(identity: Rec): string[] {
  const problems: string[] = [];
  const [name, mode, signal, ttl] = [
    str(identity, "Name"),
    str(identity, "ChangeMode"),
    str(identity, "ChangeSignal"),
    num(identity, "TTL"),
  ];
  if (!/^[a-zA-Z0-9-_]{1,128}$/.test(name)) {
    problems.push(`invalid name ${goQuote(name)}. Must match regex ^[a-zA-Z0-9-_]{1,128}$`);
  }
  for (const [i, audience] of strings(identity, "Audience").entries()) {
    if (audience === "") problems.push(`an empty string is an invalid audience (${i + 1})`);
  }
  if (mode === "signal") {
    if (signal === "") problems.push('change_signal must be specified when using change_mode="signal"');
  } else if (!["", "noop", "restart"].includes(mode)) problems.push(`invalid change_mode: ${mode}`);
  else if (signal !== "") problems.push(`can only use change_signal=${goQuote(signal)} with change_mode="signal"`);
  if (ttl > 0 && (name === "" || name === "default")) problems.push("ttl for default identity not yet supported");
  if (ttl < 0) problems.push("ttl must be >= 0");
  if (str(identity, "Filepath") !== "" && !flag(identity, "File")) {
    problems.push("file parameter must be true in order to specify filepath");
  }
  return problems;
}

function secretsProblems(task: Rec): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const secret of recs(task, "Secrets")) {
    const [name, provider] = [str(secret, "Name"), str(secret, "Provider")];
    if (seen.has(name)) problems.push(`Duplicate secret ${goQuote(name)} found`);
    seen.add(name);
    if (provider === "vault" && rec(task, "Vault") === undefined) {
      problems.push(`Secret ${goQuote(name)} has provider "vault" but no vault block`);
    }
    problems.push(...headed(`Secret ${goQuote(name)} is invalid`, secretProblems(secret)));
  }
  return problems;
}

function secretProblems(secret: Rec): string[] {
  const problems: string[] = [];
  const [name, provider] = [str(secret, "Name"), str(secret, "Provider")];
  if (name === "") problems.push("secret name cannot be empty");
  if (!/^[a-zA-Z0-9_]{1,128}$/.test(name)) problems.push("secret name must match regex ^[a-zA-Z0-9_]{1,128}$");
  if (provider === "") problems.push("secret provider cannot be empty");
  if (str(secret, "Path") === "") problems.push("secret path cannot be empty");
  const filled = (key: string) => Object.keys(rec(secret, key) ?? {}).length > 0;
  if (provider === "nomad" || provider === "vault") {
    if (filled("Env")) problems.push(`${provider} provider cannot use the env block`);
  } else if (filled("Config")) problems.push(`custom plugin provider ${provider} cannot use the config block`);
  return problems;
}
