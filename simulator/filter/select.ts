import { FilterError } from "./peg.ts";

export type Scope = Readonly<Record<string, unknown>>;

/** A value and the name of the field that holds it, from which its Go type follows. */
export interface Found {
  readonly name: string;
  readonly value: unknown;
}

/** Fields that are maps: a key they lack is no error, the object is only left out (nomad-api §17). */
const maps = new Set([
  "Meta",
  "Env",
  "Config",
  "Attributes",
  "Drivers",
  "HostVolumes",
  "Links",
  "Items",
  "TaskStates",
  "TaskResources",
  "FailedTGAllocs",
  "QueuedAllocations",
  "ClassEligibility",
  "Summary",
  "Volumes",
  "Details",
  "Target",
  "CanaryMeta",
  "TaskLifecycles",
  "value",
  "list",
]);

/** Fields that point to an object or to nothing. */
const pointers = new Set([
  "Periodic",
  "ParameterizedJob",
  "Multiregion",
  "VersionTag",
  "UI",
  "ReschedulePolicy",
  "RestartPolicy",
  "Migrate",
  "Disconnect",
  "EphemeralDisk",
  "Consul",
  "Scaling",
  "Lifecycle",
  "DeploymentStatus",
  "RescheduleTracker",
  "DrainStrategy",
  "LastDrain",
  "Vault",
  "Connect",
  "Gateway",
  "SchedulerConfiguration",
]);

/** The kind of Go value that a field holds. */
export function kindOf({ name, value }: Found): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number")
    return /Index$|^Version$|^JobVersion$/.test(name) ? "uint64" : /Time$/.test(name) ? "int64" : "int";
  if (Array.isArray(value)) return "slice";
  if (value === null || value === undefined) return pointers.has(name) ? "invalid" : maps.has(name) ? "map" : "slice";
  return maps.has(name) ? "map" : "struct";
}

const missing = { missing: true } as const;

/** A map lacks the key. */
export function isMissing(found: Found | typeof missing): found is typeof missing {
  return "missing" in found;
}

/** The value of a selector. Throws FilterError for a field that a struct lacks. */
export function resolve(selector: readonly string[], row: unknown, scope: Scope): Found | typeof missing {
  const first = selector[0] ?? "";
  const scoped = first in scope;
  let found: Found = { name: scoped ? first : "", value: scoped ? scope[first] : row };
  const parts = scoped ? selector.slice(1) : selector;
  for (const [i, part] of parts.entries()) {
    const next = step(found, part, parts, i);
    if (isMissing(next)) return missing;
    found = next;
  }
  return found;
}

function step(found: Found, part: string, path: readonly string[], i: number): Found | typeof missing {
  const { value } = found;
  const where = `error finding value in datum: /${path.join("/")}`;
  if (Array.isArray(value)) {
    const index = Number(part);
    if (!/^\d+$/.test(part)) throw new FilterError(`${where} at part ${i}: couldn't convert value "${part}" to type int`);
    if (index >= value.length)
      throw new FilterError(`${where} at part ${i}: index ${index} is out of range (length = ${value.length})`);
    return { name: "", value: value[index] };
  }
  const kind = i === 0 && found.name === "" ? "struct" : kindOf(found);
  if (kind === "map") {
    const map = (value ?? {}) as Scope;
    return part in map ? { name: part, value: map[part] } : missing;
  }
  if (value === null || value === undefined || typeof value !== "object") {
    throw new FilterError(`${where}: at part ${i}, invalid value kind: ${kind}`);
  }
  if (!(part in value)) throw new FilterError(`${where} at part ${i}: couldn't find key: struct field with name "${part}"`);
  return { name: part, value: (value as Scope)[part] };
}
