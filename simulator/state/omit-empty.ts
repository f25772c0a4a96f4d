/** Leaves out what is empty, as Nomad does for evaluations and allocations (nomad-api §6.1). */
export function omitEmpty(object: object): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined || value === "" || value === 0 || value === false) continue;
    if (typeof value === "object" && Object.keys(value).length === 0) continue;
    out[name] = value;
  }
  return out;
}
