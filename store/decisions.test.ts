import { describe, expect, it } from "vitest";
import type { HookRunState } from "../model/deployment.ts";
import { allStates } from "../model/lifecycle.ts";
import { aFrozenHook, aMove, aNewDeployment, aPerson, aTokenActor } from "../testkit/builders.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import type { Store } from "./open.ts";

const ada = aPerson("ada");
const grace = aPerson("grace");

async function pending(store: Store, over = {}) {
  return await store.create(aNewDeployment({ policy: "approval", state: "pending_approval", ...over }));
}

function approval(deployment: { readonly id: string; readonly specHash: string }, over = {}) {
  return { id: deployment.id, version: 1, specHash: deployment.specHash, actor: ada, comment: undefined, required: 1, ...over };
}

const messages = async (store: Store) => (await store.eventsAfter(0, 99)).map((event) => `${event.actor}: ${event.message}`);

describe("approve", () => {
  it("moves on with the approver's name, the comment in the one event", async () => {
    const store = memoryStore();
    const deployment = await pending(store, { hooks: [aFrozenHook()] });
    const result = await store.approve(approval(deployment, { comment: "looks right" }));
    expect(result.approvals).toBe(1);
    expect(result.deployment).toMatchObject({ state: "pre_hook", decidedBy: "ada", version: 2 });
    expect((await messages(store)).slice(2)).toEqual(["ada: approved: looks right"]);
    expect(await store.approvals(deployment.id)).toEqual([
      {
        deploymentId: deployment.id,
        specHash: deployment.specHash,
        actor: "ada",
        identity: ada.identity,
        comment: "looks right",
        at: "2026-03-01T12:00:00.000Z",
      },
    ]);
  });

  it("S58: counts identities, not names or clicks", async () => {
    const store = memoryStore();
    const deployment = await pending(store);
    const input = approval(deployment, { required: 2 });
    expect((await store.approve(input)).approvals).toBe(1);
    expect((await store.approve(input)).approvals).toBe(1);
    const viaToken = aTokenActor("ci", { identity: ada.identity });
    const second = await store.approve({ ...input, actor: viaToken });
    expect(second).toMatchObject({ approvals: 1, deployment: { state: "pending_approval", version: 1 } });
    const last = await store.approve({ ...input, actor: grace });
    expect(last).toMatchObject({ approvals: 2, deployment: { state: "applying", decidedBy: "ada, grace" } });
    expect((await messages(store)).slice(2)).toEqual(["ada: approved, 1 of 2", "grace: approved"]);
  });

  it("S56: refuses the second of two that come at once", async () => {
    const store = memoryStore();
    const deployment = await pending(store);
    const both = await Promise.allSettled([
      store.approve(approval(deployment)),
      store.approve(approval(deployment, { actor: grace })),
    ]);
    expect(both.map((one) => one.status)).toEqual(["fulfilled", "rejected"]);
    expect((await store.approvals(deployment.id)).map((one) => one.actor)).toEqual(["ada"]);
  });

  it("refuses another spec hash, another version, and what no longer waits", async () => {
    const store = memoryStore();
    const deployment = await pending(store);
    const stale = { name: "ConflictError", code: "stale_approval" };
    await expect(store.approve(approval(deployment, { specHash: "f".repeat(64) }))).rejects.toMatchObject(stale);
    await expect(store.approve(approval(deployment, { version: 2 }))).rejects.toMatchObject(stale);
    await store.move(deployment.id, 1, aMove({ trigger: "supersede" }));
    await expect(store.approve(approval(deployment))).rejects.toMatchObject(stale);
    await expect(store.approve(approval(deployment, { version: 2 }))).rejects.toMatchObject(stale);
    await expect(store.approve(approval({ id: "nope", specHash: "" }))).rejects.toMatchObject({ name: "NotFoundError" });
    expect(await store.approvals(deployment.id)).toEqual([]);
  });

  it("keeps earlier approvals when only the base index moved (D6)", async () => {
    const store = memoryStore();
    const deployment = await pending(store);
    await store.approve(approval(deployment, { required: 2 }));
    const moved = await store.refreshBase(deployment.id, 1, 140);
    expect(moved).toMatchObject({ baseIndex: 140, version: 2, state: "pending_approval" });
    const last = await store.approve(approval(deployment, { required: 2, version: 2, actor: grace }));
    expect(last.deployment.state).toBe("applying");
  });
});

describe("markRetried", () => {
  const retry = { actor: ada, reschedule: false, rerunUnknownHooks: false };

  it("marks once; the successor takes the wish to reschedule from it", async () => {
    const store = memoryStore();
    const failed = await store.create(aNewDeployment({ state: "failed" }));
    const marked = await store.markRetried({ ...retry, id: failed.id, reschedule: true });
    expect(marked).toMatchObject({ state: "failed", retriedBy: "ada", retriedAt: "2026-03-01T12:00:00.000Z", version: 2 });
    await expect(store.markRetried({ ...retry, id: failed.id })).rejects.toMatchObject({ code: "already_retried" });
    const successor = await store.create(aNewDeployment({ retryOf: failed.id, reason: "retry" }));
    expect(successor).toMatchObject({ retryOf: failed.id, reschedule: true });
    expect((await store.deploymentDetail(failed.id))?.successor).toBe(successor.id);
  });

  it.each(allStates.filter((state) => state !== "failed" && state !== "rejected"))("refuses one that is %s", async (state) => {
    const store = memoryStore();
    const waysTo = {
      detected: [],
      pending_approval: ["need_approval"],
      pre_hook: ["start"],
      applying: ["start", "step_ok"],
      post_hook: ["start", "step_ok", "step_ok"],
      completed: ["in_sync"],
      superseded: ["supersede"],
    } as const;
    let deployment = await store.create(aNewDeployment({ hooks: [aFrozenHook(), aFrozenHook({ phase: "post" })] }));
    for (const trigger of waysTo[state as keyof typeof waysTo]) {
      deployment = await store.move(deployment.id, deployment.version, aMove({ trigger }));
    }
    expect(deployment.state).toBe(state);
    await expect(store.markRetried({ ...retry, id: deployment.id })).rejects.toMatchObject({ code: "not_retryable" });
  });

  it("refuses one that is not the latest of its job", async () => {
    const store = memoryStore();
    const failed = await store.create(aNewDeployment({ state: "failed" }));
    await store.create(aNewDeployment({ state: "failed" }));
    await expect(store.markRetried({ ...retry, id: failed.id })).rejects.toMatchObject({ code: "not_latest" });
  });

  it("needs a person's word when nobody knows whether a hook ran (D33)", async () => {
    const refused = { name: "RefusedError", code: "hook_outcome_unknown" };
    const { store, run, id } = await unknownHook();
    await expect(store.markRetried({ ...retry, id })).rejects.toMatchObject(refused);
    await store.resolveHook(run, "ran", ada);
    expect(await store.markRetried({ ...retry, id })).toMatchObject({ retriedBy: "ada" });
    expect(await store.mayRerunUnknownHooks(id)).toBe(false);

    const other = await unknownHook();
    await other.store.markRetried({ ...retry, id: other.id, rerunUnknownHooks: true });
    expect(await other.store.mayRerunUnknownHooks(other.id)).toBe(true);
  });
});

async function unknownHook(outcome: HookRunState = "unknown") {
  const store = memoryStore();
  const hook = aFrozenHook();
  const { id } = await store.create(aNewDeployment({ hooks: [hook] }));
  await store.move(id, 1, aMove());
  const run = await store.ensureHookRun(id, hook);
  await store.updateHookRun(run.id, "dispatching", { state: outcome });
  await store.move(id, 2, aMove({ trigger: "fail", reason: "hook_unknown", message: "nobody can tell" }));
  return { store, id, run: run.id };
}

describe("resolveHook", () => {
  it("records who settled it, once", async () => {
    const { store, run } = await unknownHook();
    expect(await store.resolveHook(run, "did_not_run", grace)).toMatchObject({ resolution: "did_not_run", resolvedBy: "grace" });
    await expect(store.resolveHook(run, "ran", ada)).rejects.toMatchObject({ code: "already_resolved" });
    expect((await messages(store)).at(-1)).toBe("grace: pre-hook migrate did not run, says a person");
  });

  it("refuses a run whose outcome is known, and one that is not there", async () => {
    const { store, run } = await unknownHook("failed");
    await expect(store.resolveHook(run, "ran", ada)).rejects.toMatchObject({ code: "hook_outcome_known" });
    await expect(store.resolveHook("nope", "ran", ada)).rejects.toMatchObject({
      name: "NotFoundError",
      code: "hook_run_not_found",
    });
  });
});

describe("promotion and fail requests", () => {
  it("are recorded only while canaries wait", async () => {
    const store = memoryStore();
    const { id } = await store.create(aNewDeployment());
    const nothing = { name: "RefusedError", code: "nothing_to_promote" };
    await expect(store.recordPromotionRequest(id, ada)).rejects.toMatchObject(nothing);
    await store.move(id, 1, aMove());
    await expect(store.recordFailRequest(id, ada)).rejects.toMatchObject(nothing);
    await store.recordPromotionWait(id, 2);
    await store.recordPromotionRequest(id, ada);
    await store.recordFailRequest(id, grace);
    await store.recordPromoted(id, 3);
    await expect(store.recordPromotionRequest(id, ada)).rejects.toMatchObject(nothing);
    const kinds = (await store.eventsAfter(0, 99)).map((event) => event.kind);
    expect(kinds).toEqual(["state", "state", "promotion_wait", "promotion_requested", "fail_requested", "promoted"]);
  });
});
