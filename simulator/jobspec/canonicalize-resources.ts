import { fill, LOGS } from "./defaults.ts";
import { emptyApi } from "./empty.ts";
import { isEmpty, isUnset, type Rec, rec, recs, str } from "./values.ts";

/** The client library's defaults of a resources block: cores replace the default of cpu. */
export function canonicalizeResources(resources: Rec): Rec {
  if (isUnset(resources["Cores"])) {
    resources["Cores"] = 0;
    fill(resources, { CPU: 100 });
  }
  fill(resources, { CPU: 0, MemoryMB: 300 });
  for (const device of recs(resources, "Devices")) {
    fill(device, { Count: 1 });
    for (const affinity of recs(device, "Affinities")) fill(affinity, { Weight: 50 });
  }
  const numa = rec(resources, "NUMA");
  if (numa !== undefined) {
    if (str(numa, "Affinity") === "") numa["Affinity"] = "none";
    dropEmpty(numa, "Devices");
  }
  return resources;
}

/** The client library's defaults of a logs block, also of an absent one. */
export function canonicalizeLogs(logs: Rec | undefined): Rec {
  const result = logs ?? emptyApi("LogConfig");
  fill(result, LOGS);
  return result;
}

/** Empty lists and maps become unset. */
export function dropEmpty(object: Rec, ...keys: readonly string[]): void {
  for (const key of keys) if (isEmpty(object[key])) object[key] = null;
}
