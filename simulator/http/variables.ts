import { listErrors } from "../jobspec/messages.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import type { Variable, VariableLock } from "../state/cluster-types.ts";
import { scoped } from "../state/table.ts";
import { goDuration, goDurationText } from "../tasks/behaviour.ts";
import { deleteVariable, type Outcome, releaseLock, setVariable } from "../variables/store.ts";
import { allow, field, readOptions, record, textMap } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { paginate } from "./page.ts";
import type { Service } from "./service.ts";
import { shapedBody, shapes } from "./shapes.ts";

const maxBytes = 65_536;
const defaultLockNs = 15e9;

/** `GET /v1/vars`: metadata of the variables that the sender may list. */
export async function variables(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  parsed(call);
  const prefix = call.request.query.get("prefix") ?? "";
  const all = call.namespace === "*";
  const found = await service.blocking.run(call.request, ["variables"], () => {
    const rows = service.state.variables.sorted().filter((one) => all || one.Namespace === call.namespace);
    const page = paginate(
      call.request,
      rows.filter((one) => all || one.Path.startsWith(prefix)),
      {
        type: "VariableEncrypted",
        filtered: ({ Items: _, ...metadata }) => ({ VariableMetadata: metadata, VariableData: {} }),
        tokenOf: (one) => `${one.Namespace}.${one.Path}`,
        visible: (one) => one.Path.startsWith(prefix) && call.access.variable(one.Namespace, one.Path, "list"),
        fixed: true,
      },
    );
    return { index: service.state.variables.index, value: page };
  });
  const json = found.value.rows.map((one) => metadata(one, call.access.management));
  return { json, index: found.index, read: true, nextToken: found.value.nextToken };
}

/** What is wrong with a read is told twice here. */
function parsed(call: Call): void {
  try {
    readOptions(call.request);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(error.status, `${error.message}failed to parse parameters`) : error;
  }
}

function metadata(variable: Variable, showLock: boolean): Record<string, unknown> {
  const { Namespace, Path, CreateIndex, ModifyIndex, CreateTime, ModifyTime, Lock } = variable;
  return {
    Namespace,
    Path,
    CreateIndex,
    CreateTime,
    ModifyIndex,
    ModifyTime,
    ...(showLock && Lock !== null ? { Lock: shownLock(Lock) } : {}),
  };
}

function shownLock(lock: VariableLock): unknown {
  return { ID: lock.ID, TTL: goDurationText(lock.TTL / 1e6), LockDelay: goDurationText(lock.LockDelay / 1e6) };
}

/** Everything below `/v1/var/` (nomad-api §10). */
export async function variable(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  if (path === "") throw new Refusal(400, "missing variable path");
  const { method } = call.request;
  if (method === "GET") return read(service, call, path);
  if (method === "DELETE") return remove(service, call, path);
  if (method !== "PUT" && method !== "POST") throw new Refusal(400, "Invalid method");
  const operations = ["lock-renew", "lock-acquire", "lock-release"].filter((name) => call.request.query.has(name));
  if (operations.length > 1) throw new Refusal(400, "multiple lock operations");
  if (operations.length === 1 && (call.request.query.get("cas") ?? "") !== "") {
    throw new Refusal(400, "CAS can't be used with lock operations");
  }
  if (operations[0] === "lock-renew") return renew(service, call, path);
  if (operations[0] === "lock-release") return release(service, call, path);
  return write(service, call, path, operations[0] === "lock-acquire");
}

async function read(service: Service, call: Call, path: string): Promise<Reply> {
  parsed(call);
  const found = await service.blocking.run(call.request, ["variables"], () => {
    const row = service.state.variables.get(scoped(call.namespace, path));
    return { index: row?.ModifyIndex ?? service.state.variables.index, value: row };
  });
  if (!call.access.variable(call.namespace, path, "read")) throw permissionDenied();
  if (found.value === undefined) throw notFound("variable not found", found.index);
  return { json: { ...metadata(found.value, call.access.management), Items: found.value.Items }, index: found.index, read: true };
}

function casOf(call: Call): number | undefined {
  const text = call.request.query.get("cas") ?? "";
  if (text === "") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new Refusal(400, `can not parse cas: strconv.ParseUint: parsing "${text}": invalid syntax`);
}

/** A namespace of the body wins over the query's. */
function target(call: Call, body: Readonly<Record<string, unknown>>): string {
  const own = field(body, "Namespace");
  return typeof own === "string" && own !== "" ? own : call.namespace;
}

function write(service: Service, call: Call, path: string, acquire: boolean): Reply {
  const body = shapedBody(call.request, shapes.variable);
  const items = textMap(body, "Items");
  if (!acquire && Object.keys(items).length === 0) throw new Refusal(400, "variable missing required Items object");
  const cas = acquire ? undefined : casOf(call);
  const namespace = target(call, body);
  if (!call.access.variable(namespace, path, "write")) throw new Refusal(403, "Permission denied", 0);
  const given = lockOf(record(body, "Lock"));
  // Refusals of the store carry an inner and an outer error, of which the outer text shows the inner one's code too.
  const refuse = (text: string) => new Refusal(400, `RPC Error:: 400,${text}`, 0);
  if (!acquire && given !== undefined && (given.TTL !== 0 || given.LockDelay !== 0)) {
    throw refuse("RPC Error:: 400,variable should not contain lock definition");
  }
  if (namespace === "*") throw refuse('can not target wildcard ("*")namespace');
  const size = Object.entries(items).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > maxBytes) throw refuse("variables are limited to 64KiB in total size");
  const problem = pathProblem(path);
  if (problem !== undefined) throw refuse(problem);
  const lock = acquire ? wantedLock(service, given, refuse) : given;
  const outcome = setVariable(service.state, { namespace, path, items, cas, lock }, acquire, service.now());
  return answer(outcome, call, namespace, path, acquire, lock?.ID);
}

function wantedLock(service: Service, given: VariableLock | undefined, refuse: (text: string) => Refusal): VariableLock {
  const TTL = given === undefined || given.TTL === 0 ? defaultLockNs : given.TTL;
  const LockDelay = given === undefined || given.LockDelay === 0 ? defaultLockNs : given.LockDelay;
  const problems = [
    ...(TTL < 0 || LockDelay < 0 ? ["Lock delay and TTL must be positive"] : []),
    ...(TTL < 10e9 || TTL > 24 * 3600e9 ? ["TTL must be between 10 seconds and 24 hours"] : []),
  ];
  if (problems.length > 0) throw refuse(listErrors(problems));
  return { ID: given?.ID || service.newId(), TTL, LockDelay };
}

function lockOf(lock: Readonly<Record<string, unknown>> | undefined): VariableLock | undefined {
  if (lock === undefined) return undefined;
  const nanoseconds = (name: string): number => {
    const value = field(lock, name);
    if (typeof value === "number") return value;
    if (typeof value !== "string" || value === "") return 0;
    const ms = goDuration(value);
    if (ms === undefined) throw new Refusal(400, `time: invalid duration ${JSON.stringify(value)}`);
    return ms * 1e6;
  };
  const id = field(lock, "ID");
  return { ID: typeof id === "string" ? id : "", TTL: nanoseconds("TTL"), LockDelay: nanoseconds("LockDelay") };
}

/** Why a path cannot be written, in the server's words. */
export function pathProblem(path: string): string | undefined {
  if (!/^[a-zA-Z0-9\-_~/]{1,128}$/.test(path)) return `invalid path ${JSON.stringify(path)}`;
  const parts = path.split("/");
  if (parts[0] !== "nomad") return undefined;
  if (parts.length === 1) {
    return '"nomad" is a reserved top-level directory path, but you may write variables to "nomad/jobs", "nomad/job-templates", "nomad/sentinel", or below';
  }
  if (parts[1] === "jobs" || parts[1] === "sentinel") return undefined;
  if (parts[1] === "job-templates") {
    if (parts.length === 3) return undefined;
    return '"nomad/job-templates" is a reserved directory path, but you may write variables at the level below it, for example, "nomad/job-templates/template-name"';
  }
  return 'only paths at "nomad/jobs" or "nomad/job-templates" and below are valid paths under the top-level "nomad" directory';
}

/** A conflict is 409 with the variable as it stands; its content type is that of plain text (nomad-api §10.1). */
function answer(
  outcome: Outcome,
  call: Call,
  namespace: string,
  path: string,
  lockOperation: boolean,
  lockId: string | undefined,
): Reply {
  if (outcome.kind === "failed") throw new Refusal(500, outcome.text, 0);
  if (outcome.kind === "deleted") return { status: 204, index: outcome.index };
  if (outcome.kind === "written") {
    const own = call.access.management || outcome.variable.Lock?.ID === lockId;
    return {
      json: { ...metadata(outcome.variable, own), Items: lockOperation && lockId === undefined ? null : outcome.variable.Items },
      index: outcome.index,
    };
  }
  const blank = { Namespace: namespace, Path: path, CreateIndex: 0, CreateTime: 0, ModifyIndex: 0, ModifyTime: 0, Items: null };
  const other = outcome.variable;
  const readable = call.access.variable(namespace, path, "read");
  const json = other === undefined ? blank : { ...metadata(other, readable), Items: readable ? other.Items : null };
  const index = lockOperation ? undefined : (other?.ModifyIndex ?? 0);
  return { status: 409, json, type: "text/plain; charset=utf-8", index };
}

function release(service: Service, call: Call, path: string): Reply {
  const body = shapedBody(call.request, shapes.variable);
  const namespace = target(call, body);
  if (!call.access.variable(namespace, path, "write")) throw new Refusal(403, "Permission denied", 0);
  const id = lockOf(record(body, "Lock"))?.ID ?? "";
  if (id === "") throw new Refusal(400, "RPC Error:: 400,missing lock information", 0);
  if (field(body, "Items") !== undefined)
    throw new Refusal(400, "RPC Error:: 400,lock release operation doesn't take variable items", 0);
  const problem = pathProblem(path);
  if (problem !== undefined) throw new Refusal(400, problem, 0);
  return answer(releaseLock(service.state, namespace, path, id), call, namespace, path, true, undefined);
}

function renew(service: Service, call: Call, path: string): Reply {
  const body = shapedBody(call.request, shapes.variable);
  if (!call.access.variable(call.namespace, path, "write")) throw permissionDenied();
  const id = lockOf(record(body, "Lock"))?.ID ?? "";
  if (id === "") throw new Refusal(500, "1 error occurred:\n\t* missing lock ID\n\n");
  const row = service.state.variables.get(scoped(call.namespace, path));
  if (row === undefined) throw new Refusal(404, "variable doesn't exist");
  if (row.Lock === null) throw new Refusal(409, "variable doesn't hold a lock");
  if (row.Lock.ID !== id || !service.locks.renew(row)) throw new Refusal(409, "attempting to modify locked variable");
  return { json: metadata(row, true) };
}

function remove(service: Service, call: Call, path: string): Reply {
  const cas = casOf(call);
  if (!call.access.variable(call.namespace, path, "destroy")) throw new Refusal(403, "Permission denied", 0);
  return answer(deleteVariable(service.state, call.namespace, path, cas), call, call.namespace, path, false, undefined);
}
