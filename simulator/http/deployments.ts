import { goQuote } from "../jobspec/go-text.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import { changeable, type DeploymentChange, deploymentEval, fail, pause, promote } from "../scheduler/deployment-ops.ts";
import { applyClientUpdate } from "../state/alloc-writes.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { rfc3339 } from "../state/facts.ts";
import type { Deployment } from "../state/types.ts";
import { allow, flag, inThisRegion, readOptions, text, texts } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { byCreation, checkId, checkPrefix, paginate, tokensOf } from "./page.ts";
import type { Service } from "./service.ts";
import { type Fields, shapedBody, shapes } from "./shapes.ts";
import { allocStub } from "./views.ts";

/** `GET /v1/deployments`. */
export async function deployments(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const all = call.namespace === "*";
  if (all ? !call.access.anyNs("read-job") : !call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  const prefix = call.request.query.get("prefix") ?? "";
  checkPrefix(prefix, "");
  const found = await service.blocking.run(call.request, ["deployment"], () => {
    const rows = byCreation(service.state.deployment.rows.values(), prefix, call.namespace);
    const page = paginate(call.request, rows, {
      type: "Deployment",
      ...tokensOf(prefix),
      visible: (one) => call.access.ns(one.Namespace, "read-job"),
    });
    return { index: service.state.deployment.index, value: page };
  });
  return { json: found.value.rows, index: found.index, read: true, nextToken: found.value.nextToken };
}

type Verb = "promote" | "pause" | "unblock" | "health";

/** Everything below `/v1/deployment/`. */
export async function deployment(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  const [verb = "", id] = path.split("/");
  if (id === undefined) return read(service, call, verb);
  if (verb === "allocations") return allocations(service, call, id);
  if (verb === "allocation-health") return health(service, call, id);
  if (verb === "promote" || verb === "pause" || verb === "unblock" || verb === "fail") return change(service, call, verb, id);
  throw new Refusal(404, "");
}

async function read(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  inThisRegion(call, service.region);
  if (id === "") throw new Refusal(500, "missing deployment ID");
  if (!call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  checkId(id, "deployment lookup failed");
  const found = await service.blocking.run(call.request, ["deployment"], () => {
    const row = service.state.deployment.get(id);
    return { index: row?.ModifyIndex ?? service.state.deployment.index, value: row };
  });
  if (!call.access.ns(found.value?.Namespace ?? call.namespace, "read-job")) throw permissionDenied();
  if (found.value === undefined) throw notFound("deployment not found", found.index);
  return { json: found.value, index: found.index, read: true };
}

async function allocations(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  if (!call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  checkId(id, "");
  const found = await service.blocking.run(call.request, ["allocs"], () => ({
    index: service.state.allocs.index,
    value: service.state.allocs.by("deployment", id),
  }));
  if (found.value.some((one) => !call.access.ns(one.Namespace, "read-job"))) throw permissionDenied();
  return { json: found.value.map((alloc) => allocStub(alloc)), index: found.index, read: true };
}

function answer(done: DeploymentChange): Reply {
  return {
    json: {
      EvalID: done.evalId,
      EvalCreateIndex: done.evalId === "" ? 0 : done.index,
      DeploymentModifyIndex: done.index,
      RevertedJobVersion: done.revertedTo ?? null,
      Index: done.index,
    },
    index: done.index,
  };
}

/** What a request says of the deployment that its path names too. Throws Refusal (400). */
function bodyFor(call: Call, verb: Verb, id: string): Fields {
  allow(call, "PUT", "POST");
  const body = shapedBody(call.request, shapes[verb]);
  const named = text(body, "DeploymentID");
  if (named === "") throw new Refusal(400, "DeploymentID must be specified");
  if (named !== id) throw new Refusal(400, "Deployment ID does not match");
  return body;
}

/** A deployment that the sender may change so. Throws Refusal: 500 for one that is not there, 403. */
function allowed(service: Service, call: Call, id: string, verb: string, right: string): Deployment {
  inThisRegion(call, service.region);
  if (id === "") throw new Refusal(500, "missing deployment ID");
  checkId(id, "deployment lookup failed");
  const row = service.state.deployment.get(id);
  if (row === undefined) throw new Refusal(500, "deployment not found");
  if (!call.access.ns(row.Namespace, "submit-job", right)) throw permissionDenied();
  return changeable(service.state, id, verb);
}

function change(service: Service, call: Call, verb: Verb | "fail", id: string): Reply {
  if (verb === "fail") {
    allow(call, "PUT", "POST");
    const row = allowed(service, call, id, "fail", "fail-deployment");
    const reverts = Object.values(row.TaskGroups).some((group) => group.AutoRevert);
    return answer(fail(service, row, "Deployment marked as failed", reverts));
  }
  const body = bodyFor(call, verb, id);
  if (verb === "promote") {
    const row = allowed(service, call, id, "promote", "promote-deployment");
    return answer(promote(service, row, flag(body, "All") ? undefined : texts(body, "Groups")));
  }
  if (verb === "unblock") {
    allowed(service, call, id, "unblock", "unblock-deployment");
    // Only deployments of several regions are ever blocked: nothing to do, and nothing to tell.
    return { json: { EvalID: "", EvalCreateIndex: 0, DeploymentModifyIndex: 0, RevertedJobVersion: null, Index: 0 }, index: 0 };
  }
  const paused = flag(body, "Pause");
  return answer(pause(service, allowed(service, call, id, paused ? "pause" : "resume", "pause-deployment"), paused));
}

/** Health set by hand. */
function health(service: Service, call: Call, id: string): Reply {
  const body = bodyFor(call, "health", id);
  inThisRegion(call, service.region);
  const healthy = texts(body, "HealthyAllocationIDs");
  const unhealthy = texts(body, "UnhealthyAllocationIDs");
  if (healthy.length + unhealthy.length === 0)
    throw new Refusal(500, "must specify at least one healthy/unhealthy allocation ID");
  const row = allowed(service, call, id, "set health of allocations for a", "set-alloc-health-deployment");
  for (const one of [...healthy, ...unhealthy]) {
    checkId(one, `alloc ${goQuote(one)} lookup failed`);
    if (!service.state.allocs.rows.has(one)) throw new Refusal(500, `unknown alloc ${goQuote(one)}`);
  }
  const evaluation = deploymentEval(service, row);
  const index = service.state.write("DeploymentAllocHealth", (tx) => {
    for (const [ids, value] of [
      [healthy, true],
      [unhealthy, false],
    ] as const) {
      for (const allocId of ids) {
        const alloc = tx.state.allocs.get(allocId);
        if (alloc === undefined) continue;
        const { ClientStatus, ClientDescription, TaskStates } = alloc;
        const timestamp = rfc3339(service.now());
        applyClientUpdate(
          tx,
          {
            id: allocId,
            clientStatus: ClientStatus,
            clientDescription: ClientDescription,
            taskStates: TaskStates,
            health: { healthy: value, timestamp },
          },
          service.now(),
        );
      }
    }
    upsertEvals(tx, [evaluation]);
    return tx.index;
  });
  return answer({ evalId: evaluation.ID, index });
}
