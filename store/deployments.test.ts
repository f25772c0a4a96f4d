import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Deployment, NewDeployment } from "../model/deployment.ts";
import {
  type ActiveState,
  allStates,
  type DeploymentState,
  isTerminal,
  type Trigger,
  transition,
  triggers,
} from "../model/lifecycle.ts";
import { aFrozenHook, aMove, aNewDeployment, aPerson, builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import type { Store } from "./open.ts";

const bothHooks = [aFrozenHook(), aFrozenHook({ phase: "post", hookId: "smoke" })];

/** Ways from birth into each state, for a deployment with hooks of both phases. */
const ways: { readonly [S in DeploymentState]: { readonly birth: NewDeployment["state"]; readonly by: readonly Trigger[] } } = {
  detected: { birth: "detected", by: [] },
  pending_approval: { birth: "pending_approval", by: [] },
  pre_hook: { birth: "detected", by: ["start"] },
  applying: { birth: "detected", by: ["start", "step_ok"] },
  post_hook: { birth: "detected", by: ["start", "step_ok", "step_ok"] },
  completed: { birth: "detected", by: ["in_sync"] },
  failed: { birth: "failed", by: [] },
  rejected: { birth: "pending_approval", by: ["reject"] },
  superseded: { birth: "detected", by: ["supersede"] },
};

describe("creation over what was seen", () => {
  it("is refused when the job got another deployment meanwhile, even one that is over", async () => {
    const store = memoryStore();
    const first = await store.create(aNewDeployment({ state: "failed", over: null }));
    const late = { name: "ConflictError", code: "newer_deployment" };
    await expect(store.create(aNewDeployment({ state: "failed", over: null }))).rejects.toMatchObject(late);
    const second = await store.create(aNewDeployment({ state: "detected", over: first.id }));
    await store.move(second.id, second.version, aMove({ trigger: "supersede" }));
    await expect(store.create(aNewDeployment({ state: "detected", over: first.id }))).rejects.toMatchObject(late);
    expect((await store.create(aNewDeployment({ jobId: "another", state: "detected", over: null }))).jobId).toBe("another");
    expect((await store.create(aNewDeployment({ state: "detected", over: second.id }))).state).toBe("detected");
  });
});

async function inState(store: Store, state: DeploymentState, over: Partial<NewDeployment> = {}): Promise<Deployment> {
  const way = ways[state];
  let deployment = await store.create(aNewDeployment({ hooks: bothHooks, ...over, state: way.birth }));
  for (const trigger of way.by) deployment = await store.move(deployment.id, deployment.version, aMove({ trigger }));
  expect(deployment.state).toBe(state);
  return deployment;
}

describe("create", () => {
  it("stores what it was given and gives it back", async () => {
    const store = memoryStore();
    const input = aNewDeployment({ hooks: bothHooks });
    const created = await store.create(input);
    expect(await store.deployment(created.id)).toEqual(created);
    expect(created).toMatchObject({ state: "detected", version: 1, baseIndex: 100, hasPreHooks: true, hasPostHooks: true });
    expect(created.createdAt).toBe("2026-03-01T12:00:00.000Z");
    expect(await store.deploymentSpec(created.id)).toEqual(input.spec);
    expect(await store.frozenHooks(created.id)).toEqual(bothHooks);
    expect((await store.deploymentDetail(created.id))?.diff).toEqual(input.diff);
  });

  it("keeps integers beyond 2^53 and empty members of a spec exactly", async () => {
    const store = memoryStore();
    const spec = { ID: "web", Big: 9223372036854775807n, Nothing: null, Empty: {}, None: [], Text: '{"$integer":"1"}' };
    const created = await store.create(aNewDeployment({ spec: { ...aNewDeployment().spec, spec } }));
    expect((await store.deploymentSpec(created.id)).spec).toEqual(spec);
  });

  it.each([
    ["detected", [undefined, "detected"], []],
    ["pending_approval", [undefined, "detected", "pending_approval"], ["pending_approval"]],
    ["failed", [undefined, "detected", "failed"], ["failed"]],
  ] as const)("born %s: its log reads as if it had been detected first", async (state, path, notified) => {
    const store = memoryStore();
    const created = await store.create(aNewDeployment({ state, message: "because" }));
    const events = await store.eventsAfter(0, 10);
    expect(events.map((event) => event.fromState)).toEqual(path.slice(0, -1));
    expect(events.map((event) => event.toState)).toEqual(path.slice(1));
    expect(events.every((event) => event.deploymentId === created.id && event.message === "because")).toBe(true);
    expect(created.error).toBe(state === "failed" ? "because" : undefined);
    expect((await store.claimNotifications(10)).map((note) => note.kind)).toEqual(notified);
  });

  it.each(["detected", "pending_approval", "failed"] as const)("refuses one born %s beside an active one", async (state) => {
    for (const active of ["detected", "pending_approval", "pre_hook", "applying", "post_hook"] satisfies ActiveState[]) {
      const store = memoryStore();
      await inState(store, active);
      const before = await store.eventsAfter(0, 100);
      await expect(store.create(aNewDeployment({ state }))).rejects.toMatchObject({
        name: "ConflictError",
        code: "active_deployment",
      });
      expect(await store.eventsAfter(0, 100)).toEqual(before);
      expect((await store.listDeployments({ limit: 10 })).items).toHaveLength(1);
    }
  });

  it("lets another job, another namespace, and a successor of a finished one in", async () => {
    const store = memoryStore();
    await inState(store, "failed");
    await inState(store, "detected");
    await inState(store, "detected", { jobId: "api" });
    await inState(store, "detected", { namespace: "prod" });
    expect(await store.activeDeployments()).toHaveLength(3);
  });

  it("uses a Deploy now request up", async () => {
    const store = memoryStore();
    const key = "default/web" as Parameters<Store["requestLift"]>[0];
    await store.requestLift(key, "a".repeat(64), aPerson());
    const created = await store.create(aNewDeployment({ windowLiftedBy: "ada" }));
    expect(created.windowLiftedBy).toBe("ada");
    expect((await store.jobFacts(key)).lift).toBeUndefined();
  });
});

describe("move", () => {
  it("knows exactly these edges", async () => {
    const edges = new Set<string>();
    for (const state of allStates) {
      for (const trigger of triggers) {
        for (const hooks of [bothHooks, []]) {
          for (const mode of ["apply", "verify"] as const) {
            const facts = { state, mode, hasPreHooks: hooks.length > 0, hasPostHooks: hooks.length > 0 };
            const to = transition(facts, trigger);
            if (to !== undefined) edges.add(`${state} --${trigger}--> ${to}`);
          }
        }
      }
    }
    expect([...edges].sort()).toEqual(
      [
        "applying --fail--> failed",
        "applying --in_sync--> completed",
        "applying --step_ok--> completed",
        "applying --step_ok--> post_hook",
        "detected --fail--> failed",
        "detected --in_sync--> completed",
        "detected --need_approval--> pending_approval",
        "detected --start--> applying",
        "detected --start--> pre_hook",
        "detected --supersede--> superseded",
        "pending_approval --approve--> applying",
        "pending_approval --approve--> pre_hook",
        "pending_approval --fail--> failed",
        "pending_approval --in_sync--> completed",
        "pending_approval --reject--> rejected",
        "pending_approval --supersede--> superseded",
        "post_hook --fail--> failed",
        "post_hook --step_ok--> completed",
        "pre_hook --fail--> failed",
        "pre_hook --step_ok--> applying",
      ].sort(),
    );
  });

  it.each(allStates.flatMap((state) => triggers.map((trigger) => [state, trigger] as const)))(
    "from %s by %s does what the table says, or nothing at all",
    async (state, trigger) => {
      const store = memoryStore();
      const before = await inState(store, state);
      const log = await store.eventsAfter(0, 100);
      const move = aMove({ trigger, reason: "healthy", message: "the message", actor: aPerson("grace") });
      const to = transition(before, trigger);
      if (to === undefined) {
        await expect(store.move(before.id, before.version, move)).rejects.toMatchObject({
          name: "ConflictError",
          code: "not_allowed",
        });
        expect(await store.deployment(before.id)).toEqual(before);
        expect(await store.eventsAfter(0, 100)).toEqual(log);
        return;
      }
      const after = await store.move(before.id, before.version, move);
      expect(after).toMatchObject({ state: to, version: before.version + 1, reason: "healthy" });
      expect(after.error).toBe(to === "failed" ? "the message" : before.error);
      expect(after.decidedBy).toBe(trigger === "approve" || trigger === "reject" ? "grace" : before.decidedBy);
      expect(await store.deployment(before.id)).toEqual(after);
      const added = (await store.eventsAfter(0, 100)).slice(log.length);
      expect(added).toHaveLength(1);
      expect(added[0]).toMatchObject({ kind: "state", fromState: state, toState: to, actor: "grace", deploymentId: before.id });
    },
  );

  it("refuses a version that is not the present one", async () => {
    const store = memoryStore();
    const created = await store.create(aNewDeployment());
    for (const version of [0, 2, 99]) {
      await expect(store.move(created.id, version, aMove())).rejects.toMatchObject({
        name: "ConflictError",
        code: "stale_version",
      });
    }
    const moved = await store.move(created.id, 1, aMove());
    await expect(store.move(created.id, 1, aMove({ trigger: "step_ok" }))).rejects.toMatchObject({ code: "stale_version" });
    expect(await store.deployment(created.id)).toEqual(moved);
  });

  it("tells of a deployment that does not exist", async () => {
    await expect(memoryStore().move("01JN8Z2V00000000000000000A", 1, aMove())).rejects.toMatchObject({ name: "NotFoundError" });
  });

  it("begins the clock of each state when it enters it", async () => {
    const clock = new FakeClock(builtAtMs);
    const store = memoryStore({ clock });
    const created = await store.create(aNewDeployment({ hooks: bothHooks }));
    await clock.advance(60_000);
    const started = await store.move(created.id, 1, aMove());
    expect(started).toMatchObject({ enteredAt: "2026-03-01T12:01:00.000Z", createdAt: "2026-03-01T12:00:00.000Z" });
  });

  it("tells people of completion only when the job asks for it", async () => {
    for (const [wish, expected] of [
      ["true", ["completed"]],
      ["false", []],
      [undefined, []],
    ] as const) {
      const store = memoryStore();
      const { spec, submission } = aNewDeployment().spec;
      const meta = wish === undefined ? {} : { nops_notify_completed: wish };
      const created = await store.create(aNewDeployment({ spec: { spec: { ...spec, Meta: meta }, submission } }));
      await store.move(created.id, 1, aMove({ trigger: "in_sync" }));
      expect((await store.claimNotifications(9)).map((note) => note.kind)).toEqual(expected);
    }
  });

  it("redacts messages and errors before they are stored", async () => {
    const store = memoryStore({ redact: (text) => text.replaceAll("hunter2", "<redacted>") });
    const created = await store.create(aNewDeployment());
    const failed = await store.move(created.id, 1, aMove({ trigger: "fail", message: "env says hunter2" }));
    expect(failed.error).toBe("env says <redacted>");
    expect(JSON.stringify(await store.eventsAfter(0, 9))).not.toContain("hunter2");
  });

  it("keeps its laws over random lives of three jobs", async () => {
    const step = fc.record({
      job: fc.constantFrom("a", "b", "c"),
      trigger: fc.constantFrom(...triggers),
      birth: fc.constantFrom("detected" as const, "pending_approval" as const, "failed" as const),
      mode: fc.constantFrom("apply" as const, "verify" as const),
      hooks: fc.constantFrom([], bothHooks, bothHooks.slice(0, 1), bothHooks.slice(1)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 60 }), async (steps) => {
        const store = memoryStore();
        const latest = new Map<string, Deployment>();
        for (const { job, trigger, birth, mode, hooks } of steps) {
          const current = latest.get(job);
          if (current === undefined || isTerminal(current.state)) {
            latest.set(job, await store.create(aNewDeployment({ jobId: job, state: birth, mode, hooks })));
            continue;
          }
          const to = transition(current, trigger);
          const moving = store.move(current.id, current.version, aMove({ trigger }));
          if (to === undefined) await expect(moving).rejects.toMatchObject({ code: "not_allowed" });
          else latest.set(job, await moving);
        }
        for (const deployment of latest.values()) expect(await store.deployment(deployment.id)).toEqual(deployment);
        const active = await store.activeDeployments();
        expect(new Set(active.map((row) => row.jobId)).size).toBe(active.length);
        expect(await store.verifyAudit()).toMatchObject({ ok: true });
        await store.close();
      }),
      { numRuns: 30 },
    );
  });
});

describe("one transaction", () => {
  type Act = (store: Store, waiting: Deployment) => Promise<unknown>;
  const acts: Readonly<Record<string, Act>> = {
    create: (store) => store.create(aNewDeployment({ hooks: bothHooks, state: "failed" })),
    move: (store, { id }) => store.move(id, 1, aMove({ trigger: "fail" })),
    approve: (store, { id, specHash }) =>
      store.approve({ id, version: 1, specHash, actor: aPerson(), comment: "ok", required: 1 }),
    pause: (store) => store.pauseAll(aPerson(), "why"),
    "refresh the base": (store, { id }) => store.refreshBase(id, 1, 101),
  };

  it.each(Object.keys(acts))("%s leaves nothing behind when it dies before any of its statements", async (name) => {
    let left = Number.POSITIVE_INFINITY;
    const trace = (): void => {
      left -= 1;
      if (left === 0) throw new Error("power cut");
    };
    const store = memoryStore({ trace });
    const waiting = await store.create(aNewDeployment({ state: "pending_approval", jobId: "api" }));
    const before = store.serialize();
    let deaths = 0;
    for (let at = 1; ; at++) {
      left = at;
      const outcome = await acts[name]?.(store, waiting).then(
        () => "done",
        (error: Error) => error.message,
      );
      left = Number.POSITIVE_INFINITY;
      if (outcome === "done") break;
      expect(outcome).toBe("power cut");
      expect(Buffer.compare(store.serialize(), before), `died before statement ${at}`).toBe(0);
      deaths += 1;
    }
    // Begin, epoch, read, write, event, commit at the least.
    expect(deaths).toBeGreaterThanOrEqual(6);
    expect(Buffer.compare(store.serialize(), before)).not.toBe(0);
  });
});
