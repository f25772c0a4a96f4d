import { formatNanoseconds } from "./duration.ts";

/** Fields of a plan's diff that Nomad gives in nanoseconds (nomad-api §2). */
const durations: ReadonlySet<string> = new Set([
  "Delay",
  "Grace",
  "HealthyDeadline",
  "Interval",
  "KillTimeout",
  "LostAfter",
  "MaxClientDisconnect",
  "MaxDelay",
  "MinHealthyTime",
  "ProgressDeadline",
  "ShutdownDelay",
  "Splay",
  "Stagger",
  "StopAfterClientDisconnect",
  "StopOnClientAfter",
  "TTL",
  "Timeout",
  "VaultGrace",
]);

/**
 * A value of a diff as a person reads it: durations as in a job file, everything else as it is.
 * @param object name of the block that the field stands in; empty at the top.
 */
export function readableValue(object: string, field: string, value: string): string {
  const isDuration = durations.has(field) || (object === "Wait" && (field === "Min" || field === "Max"));
  return isDuration && /^-?\d+$/.test(value) ? formatNanoseconds(BigInt(value)) : value;
}
