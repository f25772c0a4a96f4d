import { SECOND } from "./defaults.ts";
import { goDuration, goQuote } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import { flag, num, type Rec, rec, str } from "./values.ts";

const PORT_CHECKS = new Set(["grpc", "http", "tcp"]);

/** Whether a check of this type needs a port. */
export function requiresPort(check: Rec): boolean {
  return PORT_CHECKS.has(str(check, "Type"));
}

/** The first thing wrong with a check of a service in Nomad's own registry. */
export function nomadCheckProblem(check: Rec): string | undefined {
  const common = commonProblem(check, ["tcp", "http"]);
  if (common !== undefined) return common;
  const restart = rec(check, "CheckRestart");
  const consulOnly: readonly (readonly [boolean, string])[] = [
    [flag(check, "Expose"), "expose may only be set for Consul service checks"],
    [str(check, "OnUpdate") === "ignore_warnings", "on_update may only be set to ignore_warnings for Consul service checks"],
    [flag(restart, "IgnoreWarnings"), "ignore_warnings on check_restart only supported for Consul service checks"],
    [str(check, "AddressMode") === "driver", "address_mode = driver may only be set for Consul service checks"],
    [unknownMethod(check), `method type ${goQuote(str(check, "Method"))} not supported in Nomad http check`],
    [num(check, "SuccessBeforePassing") !== 0, "success_before_passing may only be set for Consul service checks"],
    [num(check, "FailuresBeforeCritical") !== 0, "failures_before_critical may only be set for Consul service checks"],
    [num(check, "FailuresBeforeWarning") !== 0, "failures_before_warning may only be set for Consul service checks"],
    [str(check, "TLSServerName") !== "", "tls_server_name may only be set for Consul service checks"],
  ];
  return consulOnly.find(([bad]) => bad)?.[1];
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"]);

function unknownMethod(check: Rec): boolean {
  const method = str(check, "Method");
  return str(check, "Type") === "http" && method !== "" && !METHODS.has(method.toUpperCase());
}

const COUNTERS = [
  ["success_before_passing", "SuccessBeforePassing"],
  ["failures_before_critical", "FailuresBeforeCritical"],
  ["failures_before_warning", "FailuresBeforeWarning"],
] as const;

/** The first thing wrong with a check of a service in Consul. */
export function consulCheckProblem(check: Rec): string | undefined {
  const common = commonProblem(check, ["grpc", "tcp", "http", "script"]);
  if (common !== undefined) return common;
  const type = str(check, "Type").toLowerCase();
  if (flag(check, "Expose") && type !== "grpc" && type !== "http") return "expose may only be set on HTTP or gRPC checks";
  for (const [word, key] of COUNTERS) {
    if (num(check, key) < 0) return `${word} must be non-negative`;
    if (num(check, key) > 0 && !PORT_CHECKS.has(str(check, "Type"))) {
      return `${word} not supported for check of type ${goQuote(str(check, "Type"))}`;
    }
  }
  return Buffer.byteLength(str(check, "Notes")) > 255 ? "notes must not be longer than 255 characters" : undefined;
}

function commonProblem(check: Rec, types: readonly string[]): string | undefined {
  const type = str(check, "Type").toLowerCase();
  if (!types.includes(type)) return `invalid check type (${goQuote(type)}), must be one of ${types.join(", ")}`;
  return (
    targetProblem(check, type) ??
    timeProblem("interval", num(check, "Interval")) ??
    timeProblem("timeout", num(check, "Timeout")) ??
    modeProblem(check) ??
    restartProblem(check)
  );
}

function targetProblem(check: Rec, type: string): string | undefined {
  if (type === "script") return str(check, "Command") === "" ? "script type must have a valid script path" : undefined;
  if (type !== "http") return undefined;
  const path = str(check, "Path");
  if (path === "") return "http type must have http path";
  if (!parsesAsUrl(path)) return "http type must have valid http path";
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(path) ? "http type must have relative http path" : undefined;
}

/** What Go's URL parser takes: no control characters, whole escapes, no colon in the first segment of a relative path. */
function parsesAsUrl(path: string): boolean {
  if (/[\u0000-\u001f\u007f]/.test(path) || /%(?![0-9a-fA-F]{2})/.test(path.split("?")[0] ?? "")) return false;
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(path);
  return scheme || path.startsWith("/") || !(path.split(/[/?#]/)[0] ?? "").includes(":");
}

function timeProblem(word: "interval" | "timeout", value: number): string | undefined {
  if (value === 0)
    return `missing required value ${word}. ${word === "interval" ? "Interval" : "Timeout"} cannot be less than 1s`;
  if (value >= SECOND) return undefined;
  return word === "interval"
    ? `interval (${goDuration(value)}) cannot be lower than 1s`
    : `timeout (${goDuration(value)}) is lower than required minimum timeout 1s`;
}

const STATES = new Set(["", "passing", "warning", "critical"]);
const MODES = new Set(["", "host", "driver", "alloc", "alloc_ipv6"]);
const ON_UPDATE = new Set(["", "ignore", "require_healthy", "ignore_warnings"]);

function modeProblem(check: Rec): string | undefined {
  const [state, mode, onUpdate] = [str(check, "InitialStatus"), str(check, "AddressMode"), str(check, "OnUpdate")];
  if (!STATES.has(state)) {
    return `invalid initial check state (${state}), must be one of "passing", "warning", "critical" or empty`;
  }
  if (mode === "auto") return 'invalid address_mode "auto" - auto only valid for services';
  if (!MODES.has(mode)) return `invalid address_mode ${goQuote(mode)}`;
  if (ON_UPDATE.has(onUpdate)) return undefined;
  return `on_update must be "require_healthy", "ignore_warnings", or "ignore"; got ${goQuote(onUpdate)}`;
}

function restartProblem(check: Rec): string | undefined {
  const restart = rec(check, "CheckRestart");
  if (restart === undefined) return undefined;
  const onUpdate = str(check, "OnUpdate");
  if (onUpdate === "ignore") return 'on_update value "ignore" is not compatible with check_restart';
  if (onUpdate === "ignore_warnings" && !flag(restart, "IgnoreWarnings")) {
    return 'on_update value "ignore_warnings" not supported with check_restart ignore_warnings value "false"';
  }
  const problems: string[] = [];
  const [limit, grace] = [num(restart, "Limit"), num(restart, "Grace")];
  if (limit < 0) problems.push(`limit must be greater than or equal to 0 but found ${limit}`);
  if (grace < 0) problems.push(`grace period must be greater than or equal to 0 but found ${grace}`);
  return problems.length === 0 ? undefined : listErrors(problems);
}
