import { SECOND } from "./defaults.ts";
import { constraint, consulVersion } from "./implied-constraints.ts";
import { noResources } from "./no-resources.ts";
import { isUnset, num, type Rec, rec, recs, str } from "./values.ts";

export interface ConnectTaskOptions {
  readonly prefix: "connect-proxy" | "connect-mesh" | "connect-ingress" | "connect-terminating";
  readonly service: string;
  readonly driver: string;
  readonly hostNetwork?: boolean;
  readonly customizedTls?: boolean;
}

/** The Envoy task that Nomad adds for a sidecar or a gateway. */
export function connectTask(options: ConnectTaskOptions): Rec {
  const { prefix, service, driver } = options;
  const sidecar = prefix === "connect-proxy";
  // The free edition knows one cluster.
  const constraints = [consulVersion("default"), constraint("${attr.consul.grpc}", ">", "0")];
  if (options.customizedTls === true) constraints.push(consulVersion("default", ">= 1.11.2"));
  return {
    ...EMPTY_TASK,
    Name: `${prefix}-${service}`,
    Kind: `${prefix}:${service}`,
    Driver: driver,
    Config: envoyConfig(sidecar, options.hostNetwork === true),
    ShutdownDelay: 5 * SECOND,
    LogConfig: { MaxFiles: 2, MaxFileSizeMB: 2, Disabled: false },
    Resources: { ...noResources, CPU: 250, MemoryMB: 128 },
    Lifecycle: sidecar ? { Hook: "prestart", Sidecar: true } : null,
    Constraints: constraints,
  };
}

function envoyConfig(sidecar: boolean, hostNetwork: boolean): Rec {
  return {
    image: sidecar ? "${meta.connect.sidecar_image}" : "${meta.connect.gateway_image}",
    args: [
      "-c",
      "${NOMAD_SECRETS_DIR}/envoy_bootstrap.json",
      "-l",
      "${meta.connect.log_level}",
      "--concurrency",
      "${meta.connect.proxy_concurrency}",
      "--disable-hot-restart",
    ],
    ...(!sidecar && hostNetwork ? { network_mode: "host" } : {}),
  };
}

const EMPTY_TASK: Readonly<Rec> = {
  User: "",
  Env: null,
  Services: null,
  Vault: null,
  Secrets: null,
  Consul: null,
  Templates: null,
  Affinities: null,
  RestartPolicy: null,
  DispatchPayload: null,
  Meta: null,
  KillTimeout: 0,
  Artifacts: null,
  Leader: false,
  VolumeMounts: null,
  ScalingPolicies: null,
  KillSignal: "",
  CSIPluginConfig: null,
  Identity: null,
  Identities: null,
  Actions: null,
  Schedule: null,
};

/** Lays a job's own `sidecar_task` over the added task. Another driver replaces the config whole. */
export function mergeSidecarTask(over: Rec, task: Rec): void {
  for (const key of ["Name", "User", "KillSignal"]) if (str(over, key) !== "") task[key] = over[key];
  const driver = str(over, "Driver");
  if (driver !== "" && driver !== task["Driver"]) {
    task["Driver"] = driver;
    task["Config"] = over["Config"];
  } else task["Config"] = { ...rec(task, "Config"), ...rec(over, "Config") };
  for (const key of ["Env", "Meta"]) if (rec(over, key) !== undefined) task[key] = { ...rec(task, key), ...rec(over, key) };
  const resources = rec(over, "Resources");
  if (resources !== undefined) task["Resources"] = mergeResources(rec(task, "Resources") ?? {}, resources);
  for (const key of ["KillTimeout", "ShutdownDelay"]) if (!isUnset(over[key])) task[key] = over[key];
  const logs = rec(over, "LogConfig");
  const taskLogs = rec(task, "LogConfig");
  if (logs !== undefined && taskLogs !== undefined) {
    for (const key of ["MaxFiles", "MaxFileSizeMB"]) if (num(logs, key) > 0) taskLogs[key] = logs[key];
  }
  for (const key of ["VolumeMounts", "Identities"]) if (!isUnset(over[key])) task[key] = over[key];
}

const NUMBERS = ["CPU", "Cores", "MemoryMB", "MemoryMaxMB", "DiskMB", "SecretsMB"] as const;

function mergeResources(base: Rec, over: Rec): Rec {
  const result: Rec = { ...base };
  for (const key of NUMBERS) if (num(over, key) > 0) result[key] = over[key];
  for (const key of ["Networks", "Devices"]) if (recs(over, key).length > 0) result[key] = over[key];
  return result;
}
