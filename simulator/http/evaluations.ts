import { compileFilter } from "../filter/evaluate.ts";
import { FilterError } from "../filter/peg.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import { terminal } from "../state/facts.ts";
import { omitEmpty } from "../state/omit-empty.ts";
import type { Evaluation } from "../state/types.ts";
import { allow, readOptions, text, texts } from "./input.ts";
import { need } from "./job-reads.ts";
import type { Call, Reply } from "./message.ts";
import { byCreation, checkId, checkPrefix, paginate, tokensOf } from "./page.ts";
import type { Service } from "./service.ts";
import { shapedBody, shapes } from "./shapes.ts";
import { allocStub } from "./views.ts";

/** `GET /v1/evaluations`, and `DELETE`, for whoever paused the evaluations before. */
export async function evaluations(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET", "DELETE");
  if (call.request.method === "DELETE") return remove(service, call);
  readOptions(call.request);
  const { query } = call.request;
  const all = call.namespace === "*";
  if (all ? !call.access.anyNs("read-job") : !call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  const [prefix, job, status] = [query.get("prefix") ?? "", query.get("job") ?? "", query.get("status") ?? ""];
  if ((query.get("filter") ?? "") !== "" && (job !== "" || status !== "")) {
    throw new Refusal(400, "Filter expression cannot be used with other filter parameters");
  }
  checkPrefix(prefix, "eval lookup failed");
  const found = await service.blocking.run(call.request, ["evals"], () => {
    const rows = byCreation(service.state.evals.rows.values(), prefix, call.namespace).filter(
      (one) => (job === "" || one.JobID === job) && (status === "" || one.Status === status),
    );
    const page = paginate(call.request, rows, {
      type: "Evaluation",
      ...tokensOf(prefix),
      visible: (one) => call.access.ns(one.Namespace, "read-job"),
    });
    return { index: service.state.evals.index, value: page };
  });
  return { json: found.value.rows.map(omitEmpty), index: found.index, read: true, nextToken: found.value.nextToken };
}

function remove(service: Service, call: Call): Reply {
  const body = shapedBody(call.request, shapes.evalDelete);
  const [ids, filter] = [texts(body, "EvalIDs"), text(body, "Filter")];
  if (filter !== "" && ids.length > 0) throw new Refusal(400, "evals cannot be deleted by both ID and filter");
  if (filter === "" && ids.length === 0) throw new Refusal(400, "evals must be deleted by either ID or filter");
  if (!call.access.management) throw permissionDenied();
  const { state } = service;
  if (!service.engine.paused) {
    throw new Refusal(500, "eval broker is enabled; eval broker must be paused to delete evals");
  }
  const matches = filter === "" ? undefined : counted(filter);
  const gone =
    matches === undefined
      ? ids.map((id) => deletable(service, id))
      : [...state.evals.rows.values()].filter((row) => matches(row) && isDeletable(service, row)).map(({ ID }) => ID);
  const index = state.write("EvalDelete", (tx) => {
    for (const id of gone) tx.delete("evals", id);
    return tx.index;
  });
  return { json: { Count: gone.length, Index: index }, index };
}

/** An evaluation that may go. Throws Refusal (500). */
function deletable(service: Service, id: string): string {
  checkId(id, "failed to lookup eval: eval lookup failed");
  const row = service.state.evals.get(id);
  if (row === undefined) throw new Refusal(500, "eval not found");
  if (!isDeletable(service, row)) throw new Refusal(500, `eval ${id} is not safe to delete`);
  return id;
}

/** One whose allocations are all over. */
function isDeletable(service: Service, row: Evaluation): boolean {
  return service.state.allocs.by("eval", row.ID).every(terminal);
}

/** `GET /v1/evaluation/:id`, and its allocations. */
export async function evaluation(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  allow(call, "GET");
  if (path.endsWith("/allocations")) return allocationsOf(service, call, path.slice(0, -"/allocations".length));
  readOptions(call.request);
  const related = call.request.query.get("related") === "true";
  need(call, "read-job");
  checkId(path, "failed to lookup eval: eval lookup failed");
  const found = await service.blocking.run(call.request, ["evals"], () => {
    const row = service.state.evals.get(path);
    return { index: row?.ModifyIndex ?? service.state.evals.index, value: row };
  });
  need({ ...call, namespace: found.value?.Namespace ?? call.namespace }, "read-job");
  if (found.value === undefined) throw notFound("eval not found", found.index);
  const more = related ? { RelatedEvals: relatedTo(service, found.value) } : {};
  return { json: omitEmpty({ ...found.value, ...more }), index: found.index, read: true };
}

/** What an evaluation that is only named always says. */
const blankStub = {
  NodeID: "",
  DeploymentID: "",
  StatusDescription: "",
  WaitUntil: null,
  NextEval: "",
  PreviousEval: "",
  BlockedEval: "",
};

function stubOf(row: Evaluation): object {
  const { ID, Namespace, Priority, Type, TriggeredBy, JobID, Status, CreateIndex, ModifyIndex, CreateTime, ModifyTime } = row;
  const known = { ID, Namespace, Priority, Type, TriggeredBy, JobID, Status, CreateIndex, ModifyIndex, CreateTime, ModifyTime };
  const more = Object.keys(blankStub).filter((name) => row[name as keyof Evaluation] !== undefined);
  return { ...known, ...Object.fromEntries(more.map((name) => [name, row[name as keyof Evaluation]])) };
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
  return [...seen.values()].map((one) => ({ ...blankStub, ...stubOf(one) }));
}

async function allocationsOf(service: Service, call: Call, id: string): Promise<Reply> {
  readOptions(call.request);
  need(call, "read-job");
  checkId(id, "");
  const found = await service.blocking.run(call.request, ["allocs"], () => ({
    index: service.state.allocs.index,
    value: service.state.allocs.by("eval", id),
  }));
  return { json: found.value.map((alloc) => allocStub(alloc)), index: found.index, read: true };
}

/** `GET /v1/evaluations/count`: rows that a filter fails on are not counted. */
export async function countEvaluations(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const all = call.namespace === "*";
  if (all ? !call.access.anyNs("read-job") : !call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  const prefix = call.request.query.get("prefix") ?? "";
  const counts = counted(call.request.query.get("filter") ?? "");
  checkPrefix(prefix, "eval lookup failed");
  const found = await service.blocking.run(call.request, ["evals"], () => {
    const rows = byCreation(service.state.evals.rows.values(), prefix, call.namespace);
    const value = rows.filter((one) => call.access.ns(one.Namespace, "read-job") && counts(one)).length;
    return { index: service.state.evals.index, value };
  });
  const json = { Count: found.value, Index: found.index, LastContact: 0, KnownLeader: true, NextToken: "" };
  return { json, index: found.index, read: true };
}

function counted(filter: string): (row: Evaluation) => boolean {
  if (filter === "") return () => true;
  try {
    const matches = compileFilter(filter, "Evaluation");
    return (row) => {
      try {
        return matches(row);
      } catch {
        return false;
      }
    };
  } catch (error) {
    if (error instanceof FilterError) throw new Refusal(500, error.message);
    throw error;
  }
}
