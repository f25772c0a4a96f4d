import { NomadError } from "../model/errors.ts";
import type { NomadRequest, NomadTransport } from "./transport.ts";

/** A Nomad variable. `Lock` is shown only to its holder and to management tokens. */
export interface NomadVariable {
  readonly Namespace: string;
  readonly Path: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Items: Readonly<Record<string, string>>;
  readonly Lock?: NomadLock | null;
}

export interface NomadLock {
  readonly ID: string;
  /** Go durations, 10 s to 24 h. A dead holder blocks for 2 × TTL + LockDelay. */
  readonly TTL?: string;
  readonly LockDelay?: string;
}

/** A variable without its items, as lists show it. */
export type NomadVariableStub = Omit<NomadVariable, "Items" | "Lock">;

function request(
  namespace: string,
  path: string,
  verb: string,
  rest: Pick<NomadRequest, "method" | "effect"> & Partial<NomadRequest>,
): NomadRequest {
  return {
    operation: `${verb}_variable`,
    what: `${verb} variable ${path} of namespace ${namespace}`,
    path: `/v1/var/${path.split("/").map(encodeURIComponent).join("/")}`,
    ...rest,
    query: { namespace, ...rest.query },
  };
}

async function lockOperation(
  transport: NomadTransport,
  namespace: string,
  path: string,
  verb: "lock-acquire" | "lock-renew" | "lock-release",
  body: { readonly Items?: Readonly<Record<string, string>>; readonly Lock: Partial<NomadLock> },
): Promise<NomadVariable> {
  const { value } = await transport.call(
    request(namespace, path, verb.replace("-", "_"), {
      method: "PUT",
      effect: "write",
      query: { [verb]: "" },
      body: { Namespace: namespace, Path: path, ...body },
      secrets: [...Object.values(body.Items ?? {}), ...(body.Lock.ID === undefined ? [] : [body.Lock.ID])],
    }),
  );
  return value as NomadVariable;
}

/** `undefined` when there is none. */
export async function getVariable(
  transport: NomadTransport,
  namespace: string,
  path: string,
): Promise<NomadVariable | undefined> {
  const { value } = await transport.call(
    request(namespace, path, "read", { method: "GET", effect: "read", absent: "variable not found" }),
  );
  return value as NomadVariable | undefined;
}

/**
 * Writes all items. `cas`: the ModifyIndex it must have, 0: it must not exist; absent: whatever is there.
 * @throws NomadError `conflict` when the index does not match.
 */
export async function putVariable(
  transport: NomadTransport,
  namespace: string,
  path: string,
  items: Readonly<Record<string, string>>,
  cas?: number,
): Promise<NomadVariable> {
  const { value } = await transport.call(
    request(namespace, path, "write", {
      method: "PUT",
      effect: "write",
      query: { cas },
      body: { Namespace: namespace, Path: path, Items: items },
      secrets: Object.values(items),
    }),
  );
  return value as NomadVariable;
}

/** Absent: no error. @throws NomadError `conflict` when `cas` does not match. */
export async function deleteVariable(transport: NomadTransport, namespace: string, path: string, cas?: number): Promise<void> {
  await transport.call(
    request(namespace, path, "delete", { method: "DELETE", effect: "write", query: { cas }, decoding: "none" }),
  );
}

/** Variables whose path begins so, without items. */
export async function listVariables(
  transport: NomadTransport,
  namespace: string,
  prefix = "",
): Promise<readonly NomadVariableStub[]> {
  const found: NomadVariableStub[] = [];
  let page: string | undefined;
  do {
    const answer = await transport.call({
      operation: "list_variables",
      what: `list variables of namespace ${namespace}`,
      effect: "read",
      method: "GET",
      path: "/v1/vars",
      query: { namespace, prefix, per_page: transport.pageSize, next_token: page },
      shape: "list",
    });
    const part = answer.value as readonly NomadVariableStub[];
    for (const stub of part) found.push(stub);
    page = part.length === 0 ? undefined : answer.nextToken;
  } while (page !== undefined);
  return found;
}

/** Takes the lock of a variable and overwrites its items. @throws NomadError `conflict` when another holds it. */
export async function acquireLock(
  transport: NomadTransport,
  namespace: string,
  path: string,
  items: Readonly<Record<string, string>>,
  lock: { readonly ttl: string; readonly lockDelay: string },
): Promise<{ readonly lockId: string; readonly variable: NomadVariable }> {
  const body = { Items: items, Lock: { TTL: lock.ttl, LockDelay: lock.lockDelay } };
  const variable = await lockOperation(transport, namespace, path, "lock-acquire", body);
  if (!variable.Lock?.ID) throw new NomadError(`Nomad's answer names no lock on ${path}`, { kind: "unknown_outcome" });
  return { lockId: variable.Lock.ID, variable };
}

/** @throws NomadError `conflict` or `not_found`: the lock is lost, stop at once. */
export async function renewLock(transport: NomadTransport, namespace: string, path: string, lockId: string): Promise<void> {
  await lockOperation(transport, namespace, path, "lock-renew", { Lock: { ID: lockId } });
}

/** @throws NomadError `conflict` when the lock is not ours. */
export async function releaseLock(transport: NomadTransport, namespace: string, path: string, lockId: string): Promise<void> {
  await lockOperation(transport, namespace, path, "lock-release", { Lock: { ID: lockId } });
}
