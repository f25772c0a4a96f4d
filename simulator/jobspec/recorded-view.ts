const UNORDERED = new Set(["Objects", "Constraints"]);
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/**
 * A value as recordings are compared: null, absent and empty are the same; lists whose order Nomad does not fix are sorted; ids and
 * indexes are left out (`dropped`).
 */
export function comparable(value: unknown, dropped: ReadonlySet<string> = new Set(), key = ""): unknown {
  if (Array.isArray(value)) {
    const list = value.map((v) => comparable(v, dropped, key)).filter((v) => v !== undefined);
    if (list.length === 0) return undefined;
    return UNORDERED.has(key) ? list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : list;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([k]) => !dropped.has(k))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, comparable(v, dropped, k)] as const)
      .filter(([, v]) => v !== undefined);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
  if (value === null) return undefined;
  return typeof value === "string" && UUID.test(value) ? "<id>" : value;
}
