import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jobKey } from "../model/job-key.ts";
import { aFrozenHook, aJobSpec, aMove, aNewDeployment, aPerson, builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import { newestSchema } from "./migrate.ts";
import type { ListFilter } from "./read-model.ts";

async function fiveDeployments() {
  const clock = new FakeClock(builtAtMs);
  const store = memoryStore({ clock });
  const made = [];
  for (const over of [
    { jobId: "web", state: "failed" },
    { jobId: "web" },
    { jobId: "api", state: "pending_approval", repository: "other" },
    { jobId: "web", namespace: "prod" },
    { jobId: "it's 100%", namespace: "prod" },
  ] as const) {
    made.push(await store.create(aNewDeployment(over)));
    await clock.advance(1000);
  }
  return { store, made, clock };
}

describe("listDeployments", () => {
  it.each([
    [{}, [4, 3, 2, 1, 0]],
    [{ state: "detected" }, [4, 3, 1]],
    [{ state: "nonsense" }, []],
    [{ namespace: "prod" }, [4, 3]],
    [{ job: "web" }, [3, 1, 0]],
    [{ job: "it's 100%" }, [4]],
    [{ job: "%" }, []],
    [{ job: "x' OR '1'='1" }, []],
    [{ job: "web\0" }, []],
    [{ repository: "other" }, [2]],
    [{ since: "2026-03-01T12:00:03.000Z" }, [4, 3]],
    [{ namespace: "default", job: "web", state: "failed" }, [0]],
    [{ covers: (namespace: string) => namespace === "prod" }, [4, 3]],
    [{ covers: () => false }, []],
  ] as [Omit<ListFilter, "limit">, number[]][])("%j", async (filter, expected) => {
    const { store, made } = await fiveDeployments();
    const { items, nextCursor } = await store.listDeployments({ limit: 50, ...filter });
    expect(items).toEqual(expected.map((index) => made[index]));
    expect(nextCursor).toBeNull();
  });

  it("gives every row once over pages of any size, newest first, also when new ones come in between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 17 }), fc.integer({ min: 1, max: 7 }), async (count, limit) => {
        const store = memoryStore();
        const made: string[] = [];
        for (let index = 0; index < count; index++) made.push((await store.create(aNewDeployment({ jobId: `j${index}` }))).id);
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.listDeployments({ limit, cursor });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          seen.push(...page.items.map((row) => row.id));
          await store.create(aNewDeployment({ jobId: `new-${seen.length}-${cursor ?? ""}` }));
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
        expect(seen).toEqual(made.reverse());
        await store.close();
      }),
      { numRuns: 20 },
    );
  });

  it("refuses a cursor that no list gave", async () => {
    const { store } = await fiveDeployments();
    const wrong = { name: "InvalidRequestError", code: "bad_cursor" };
    await expect(store.listDeployments({ limit: 1, cursor: "'; DROP TABLE deployments" })).rejects.toMatchObject(wrong);
    await expect(store.listEvents({ limit: 1, cursor: "1e3" })).rejects.toMatchObject(wrong);
  });
});

describe("listEvents", () => {
  it("filters and pages, newest first", async () => {
    const { store } = await fiveDeployments();
    await store.pauseAll(aPerson(), "");
    const ids = async (filter: Omit<ListFilter, "limit">) =>
      (await store.listEvents({ limit: 50, ...filter })).items.map((event) => event.id);
    expect(await ids({})).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(await ids({ namespace: "prod" })).toEqual([7, 6]);
    expect(await ids({ job: "web", state: "failed" })).toEqual([2]);
    expect(await ids({ repository: "other" })).toEqual([5, 4]);
    expect(await ids({ since: "2026-03-01T12:00:04.000Z" })).toEqual([8, 7]);
    expect(await ids({ covers: (namespace) => namespace === "prod" })).toEqual([7, 6]);
    const first = await store.listEvents({ limit: 3 });
    expect(first.nextCursor).toBe("6");
    expect(await ids({ cursor: first.nextCursor ?? "" })).toEqual([5, 4, 3, 2, 1]);
  });
});

describe("deploymentDetail", () => {
  it("shows all but the spec", async () => {
    const store = memoryStore();
    const secret = "s3cret-in-the-spec";
    const spec = {
      spec: aJobSpec({ Secret: secret }),
      submission: { source: secret, format: "hcl2", variables: secret },
    } as const;
    const hooks = [aFrozenHook({ phase: "post", hookId: "smoke" }), aFrozenHook({ spec: aJobSpec({ Secret: secret }) })];
    const created = await store.create(aNewDeployment({ spec, hooks, state: "pending_approval" }));
    await store.approve({ id: created.id, version: 1, specHash: created.specHash, actor: aPerson(), comment: "ok", required: 1 });
    await store.ensureHookRun(created.id, hooks[1] ?? aFrozenHook());
    const detail = await store.deploymentDetail(created.id);
    expect(detail?.deployment.state).toBe("pre_hook");
    expect(detail?.hooks.map((hook) => [hook.phase, hook.hookId, Object.keys(hook).includes("spec")])).toEqual([
      ["pre", "migrate", false],
      ["post", "smoke", false],
    ]);
    expect(detail?.hookRuns).toHaveLength(1);
    expect(detail?.approvals).toHaveLength(1);
    expect(detail?.events.map((event) => event.kind)).toEqual(["state", "state", "state", "hook"]);
    expect(detail?.diff?.Type).toBe("Edited");
    expect(JSON.stringify(detail)).not.toContain(secret);
    expect(await store.deploymentDetail("nope")).toBeUndefined();
    expect(await store.deploymentDiff(created.id)).toEqual(detail?.diff);
    expect(await store.commitAuthorEmail(created.id)).toBe("ada@example.com");
  });
});

describe("overviews", () => {
  it("count, name the latest, the oldest, and the known", async () => {
    const { store, made } = await fiveDeployments();
    expect(await store.countByState()).toEqual({
      detected: 3,
      pending_approval: 1,
      pre_hook: 0,
      applying: 0,
      post_hook: 0,
      completed: 0,
      failed: 1,
      rejected: 0,
      superseded: 0,
    });
    expect((await store.latestPerJob()).map((row) => row.id)).toEqual([2, 1, 4, 3].map((index) => made[index]?.id));
    expect((await store.latestPerJob("failed")).map((row) => row.id)).toEqual([made[0]?.id]);
    expect(await store.oldestByState()).toEqual({ detected: made[1]?.enteredAt, pending_approval: made[2]?.enteredAt });
    await store.pauseJob(jobKey("zoo", "paused"), aPerson(), "");
    expect(await store.knownJobs()).toEqual(["default/api", "default/web", "prod/it's 100%", "prod/web", "zoo/paused"]);
    expect((await store.jobDeployments(jobKey("default", "web"), 9)).map((row) => row.id)).toEqual([made[1]?.id, made[0]?.id]);
    await store.move(made[1]?.id ?? "", 1, aMove({ trigger: "in_sync" }));
    expect(await store.health()).toMatchObject({ schema: newestSchema(), foreignKeys: 1, walBytes: 0, broken: undefined });
  });
});
