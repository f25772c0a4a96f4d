import { permissionDenied, Refusal } from "../refusal.ts";
import { omitEmpty } from "../state/omit-empty.ts";
import type { Evaluation } from "../state/types.ts";
import { allow, queryFlag } from "./input.ts";
import { need } from "./job-reads.ts";
import type { Call, Reply } from "./message.ts";
import { byIndexToken, paginate } from "./page.ts";
import type { Service } from "./service.ts";
import { allocStub } from "./views.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Refuses an id that is no UUID, in the words of the state store. Throws Refusal (500). */
export function checkId(id: string, what: string): void {
  if (id.length !== 36) throw new Refusal(500, `${what}: index error: UUID must be 36 characters`);
  if (!uuid.test(id)) throw new Refusal(500, `${what}: index error: Invalid UUID`);
}

/** `GET /v1/evaluations`. */
export async function evaluations(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  const { query } = call.request;
  const all = call.namespace === "*";
  if (all ? !call.access.anyNs("read-job") : !call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  const [prefix, job, status] = [query.get("prefix") ?? "", query.get("job") ?? "", query.get("status") ?? ""];
  const found = await service.blocking.run(call.request, ["evals"], () => {
    const rows = [...service.state.evals.rows.values()]
      .filter((one) => (all ? call.access.ns(one.Namespace, "read-job") : one.Namespace === call.namespace))
      .filter((one) => one.ID.startsWith(prefix) && (job === "" || one.JobID === job) && (status === "" || one.Status === status))
      .sort((a, b) => a.CreateIndex - b.CreateIndex || (a.ID < b.ID ? -1 : 1));
    const page = paginate(call.request, rows, (row) => `${row.CreateIndex}.${row.ID}`, byIndexToken);
    return { index: service.state.evals.index, value: page };
  });
  return { json: found.value.rows.map(omitEmpty), index: found.index, read: true, nextToken: found.value.nextToken };
}

/** `GET /v1/evaluation/:id`, and its allocations. */
export async function evaluation(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  allow(call, "GET");
  if (path.endsWith("/allocations")) return allocationsOf(service, call, path.slice(0, -"/allocations".length));
  const related = queryFlag(call.request, "related");
  checkId(path, "failed to lookup eval: eval lookup failed");
  const found = await service.blocking.run(call.request, ["evals"], () => {
    const row = service.state.evals.get(path);
    return { index: row?.ModifyIndex ?? service.state.evals.index, value: row };
  });
  need({ ...call, namespace: found.value?.Namespace ?? call.namespace }, "read-job");
  if (found.value === undefined) throw new Refusal(404, "eval not found", found.index);
  const more = related ? { RelatedEvals: relatedTo(service, found.value) } : {};
  return { json: omitEmpty({ ...found.value, ...more }), index: found.index, read: true };
}

/** Evaluations that led to this one or came of it, without the failures. */
function relatedTo(service: Service, row: Evaluation): unknown[] {
  const seen = new Map<string, Evaluation>();
  const todo = [row];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    for (const id of [one.NextEval, one.PreviousEval, one.BlockedEval]) {
      const next = id === undefined ? undefined : service.state.evals.get(id);
      if (next === undefined || seen.has(next.ID) || next.ID === row.ID) continue;
      seen.set(next.ID, next);
      todo.push(next);
    }
  }
  return [...seen.values()].map(({ FailedTGAllocs: _, QueuedAllocations: __, ...stub }) => stub);
}

async function allocationsOf(service: Service, call: Call, id: string): Promise<Reply> {
  need(call, "read-job");
  const found = await service.blocking.run(call.request, ["allocs"], () => ({
    index: service.state.allocs.index,
    value: service.state.allocs.by("eval", id),
  }));
  return { json: found.value.map((alloc) => allocStub(alloc)), index: found.index, read: true };
}

/** `GET /v1/evaluations/count`. */
export function countEvaluations(service: Service, call: Call): Reply {
  allow(call, "GET");
  need(call, "read-job");
  const page = paginate(
    call.request,
    [...service.state.evals.rows.values()],
    (row) => row.ID,
    () => 0,
  );
  const { index } = service.state.evals;
  const json = { Count: page.rows.length, Index: index, LastContact: 0, KnownLeader: true, NextToken: "" };
  return { json, index, read: true };
}
