import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import { changeable, type DeploymentChange, deploymentEval, fail, pause, promote } from "../scheduler/deployment-ops.ts";
import { applyClientUpdate } from "../state/alloc-writes.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { rfc3339 } from "../state/facts.ts";
import { allow, bodyOf, flag, inThisRegion, readOptions, text, texts } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { byCreation, checkId, checkPrefix, paginate, tokensOf } from "./page.ts";
import type { Service } from "./service.ts";
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

/** Everything below `/v1/deployment/`. */
export async function deployment(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  const [verb = "", id] = path.split("/");
  if (id === undefined) return read(service, call, verb);
  if (verb === "allocations") return allocations(service, call, id);
  if (verb === "allocation-health") return health(service, call, id);
  if (["promote", "fail", "pause"].includes(verb)) return change(service, call, verb, id);
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

function change(service: Service, call: Call, verb: string, id: string): Reply {
  allow(call, "PUT", "POST");
  const body = verb === "fail" && !call.request.body ? {} : bodyOf(call.request);
  const named = text(body, "DeploymentID");
  if (verb !== "fail" && named === "") throw new Refusal(400, "DeploymentID must be specified");
  if (verb !== "fail" && named !== id) throw new Refusal(400, "Deployment ID does not match");
  const namespace = service.state.deployment.get(id)?.Namespace ?? call.namespace;
  if (!call.access.ns(namespace, "submit-job", `${verb}-deployment`)) throw permissionDenied();
  if (verb === "promote") {
    const row = changeable(service.state, id, "promote");
    return answer(promote(service, row, flag(body, "All") ? undefined : texts(body, "Groups")));
  }
  if (verb === "pause") {
    const paused = flag(body, "Pause");
    const row = changeable(service.state, id, paused ? "pause" : "resume");
    return answer(pause(service, row, paused));
  }
  const row = changeable(service.state, id, "fail");
  const revert = Object.values(row.TaskGroups).some((group) => group.AutoRevert);
  return answer(fail(service, row, "Deployment marked as failed", revert));
}

/** Health set by hand. */
function health(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  const body = bodyOf(call.request);
  if (text(body, "DeploymentID") !== id) throw new Refusal(400, "Deployment ID does not match");
  const healthy = texts(body, "HealthyAllocationIDs");
  const unhealthy = texts(body, "UnhealthyAllocationIDs");
  if (healthy.length + unhealthy.length === 0)
    throw new Refusal(500, "must specify at least one healthy/unhealthy allocation ID");
  const row = changeable(service.state, id, "set health of allocations for a");
  if (!call.access.ns(row.Namespace, "submit-job")) throw permissionDenied();
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
