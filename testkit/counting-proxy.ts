/** A proxy in front of a Nomad that counts what is asked of it, by kind of call. Loopback only. */
import { startProxy } from "./proxy.ts";

export type CallKind = "list" | "parse" | "plan" | "register" | "read_job" | "health" | "event_stream" | "other";

export interface CountingProxy {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** Calls since the start or the last `reset`. */
  counts(): Readonly<Record<CallKind, number>>;
  /** Method and path of each counted call, for messages of failing tests. */
  calls(): readonly string[];
  reset(): void;
  close(): Promise<void>;
}

const kinds: readonly (readonly [CallKind, string, RegExp])[] = [
  ["event_stream", "GET", /^\/v1\/event\/stream/],
  ["parse", "*", /^\/v1\/jobs\/parse/],
  ["plan", "*", /^\/v1\/job\/.+\/plan$/],
  ["health", "GET", /^\/v1\/job\/.+\/(allocations|evaluations|deployments?)$/],
  ["health", "GET", /^\/v1\/(deployment|evaluation|allocation)s?\b/],
  ["read_job", "GET", /^\/v1\/job\/[^/]+(\/versions|\/submission)?$/],
  ["list", "GET", /^\/v1\/jobs$/],
  ["register", "*", /^\/v1\/jobs?(\/[^/]+)?$/],
];

/** What a call is, by its method and path without query. */
export function kindOf(method: string, path: string): CallKind {
  return (
    kinds.find(([, wanted, pattern]) => (wanted === "*" ? method !== "GET" : wanted === method) && pattern.test(path))?.[0] ??
    "other"
  );
}

/** @param target address of the Nomad behind it. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const seen: { kind: CallKind; call: string }[] = [];
  const proxy = await startProxy(target, {
    before: ({ method, path, url }) => {
      seen.push({ kind: kindOf(method, path), call: `${method} ${url}` });
      return undefined;
    },
  });
  return {
    address: proxy.address,
    counts: () => {
      const counts: Record<CallKind, number> = {
        list: 0,
        parse: 0,
        plan: 0,
        register: 0,
        read_job: 0,
        health: 0,
        event_stream: 0,
        other: 0,
      };
      for (const { kind } of seen) counts[kind] += 1;
      return counts;
    },
    calls: () => seen.map(({ call }) => call),
    reset: () => void seen.splice(0),
    close: () => proxy.close(),
  };
}
