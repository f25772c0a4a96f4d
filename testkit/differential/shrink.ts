import type { Rec } from "../../simulator/jobspec/values.ts";
import { problemOf } from "./normal.ts";
import type { Exchange, Twins } from "./twins.ts";

const most = 600;

/** The smallest requests that still show a difference: fields, list entries and lines go, as long as it stays. Throws nothing. */
export async function shrink(twins: Twins, exchanges: readonly Exchange[]): Promise<Exchange[]> {
  let smallest = structuredClone(exchanges) as Exchange[];
  let tries = 0;
  for (let progress = true; progress && tries < most; ) {
    progress = false;
    for (const candidate of smaller(smallest)) {
      if (++tries > most) break;
      if (!(await differs(twins, candidate))) continue;
      smallest = candidate;
      progress = true;
      break;
    }
  }
  return smallest;
}

/** Whether both servers, asked one after the other, answer the last request otherwise. Leaves no job behind. */
export async function differs(twins: Twins, exchanges: readonly Exchange[]): Promise<boolean> {
  try {
    let what: string | undefined;
    for (const exchange of exchanges) {
      const pair = await twins.ask(exchange);
      what = pair.real.status === 0 ? undefined : problemOf(pair);
      if (exchange.method !== "GET" && !exchange.path.endsWith("/plan")) await twins.settled();
    }
    return what !== undefined;
  } finally {
    for (const id of jobsOf(exchanges)) {
      await twins.ask({ method: "DELETE", path: `/v1/job/${encodeURIComponent(id)}?purge=true` });
    }
    await twins.settled();
  }
}

/** The ids of the jobs that requests speak of. */
export function jobsOf(exchanges: readonly Exchange[]): string[] {
  const ids = exchanges.map(({ body }) => ((body as Rec | undefined)?.["Job"] as Rec | undefined)?.["ID"]);
  return [...new Set(ids.filter((id): id is string => typeof id === "string" && id !== ""))];
}

/** Each request with one thing less, in itself or in all of them at the same place. */
function* smaller(exchanges: readonly Exchange[]): Generator<Exchange[]> {
  const last = exchanges.at(-1);
  const text = (last?.body as { readonly JobHCL?: string } | undefined)?.JobHCL;
  if (last !== undefined && text !== undefined) {
    const lines = text.split("\n");
    for (let size = Math.ceil(lines.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < lines.length; at += size) {
        const JobHCL = [...lines.slice(0, at), ...lines.slice(at + size)].join("\n");
        yield [...exchanges.slice(0, -1), { ...last, body: { ...(last.body as object), JobHCL } }];
      }
    }
    return;
  }
  for (const path of pathsOf(last?.body)) {
    if (["Job", "Job.ID", "Diff"].includes(path.join("."))) continue;
    yield exchanges.map((one) => ({ ...one, ...(one.body === undefined ? {} : { body: without(one.body, path) }) }));
    yield [...exchanges.slice(0, -1), ...(last === undefined ? [] : [{ ...last, body: without(last.body, path) }])];
  }
}

/** All places in a value, those of large parts first. */
function pathsOf(value: unknown, prefix: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const here = Object.keys(value).map((key) => [...prefix, key]);
  return [...here, ...Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...prefix, key]))];
}

function without(value: unknown, [key = "", ...rest]: readonly string[]): unknown {
  if (typeof value !== "object" || value === null || !(key in value)) return value;
  if (Array.isArray(value)) {
    const at = Number(key);
    if (rest.length === 0) return value.filter((_, i) => i !== at);
    return value.map((one, i) => (i === at ? without(one, rest) : one));
  }
  const { [key]: one, ...others } = value as Rec;
  return rest.length === 0 ? others : { ...value, [key]: without(one, rest) };
}
