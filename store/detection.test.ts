import { describe, expect, it } from "vitest";
import { engineActor } from "../model/deployment.ts";
import { jobKey } from "../model/job-key.ts";
import { aMove, aNewDeployment, aPerson } from "../testkit/builders.ts";
import { memoryStore } from "../testkit/memory-store.ts";

const web = jobKey("default", "web");
const api = jobKey("prod", "a/p/i");

describe("job files", () => {
  it("are replaced as a whole, with the commit", async () => {
    const store = memoryStore();
    expect(await store.jobFiles("main")).toEqual({ commit: undefined, files: [] });
    await store.saveJobFiles("other", "9".repeat(40), [{ file: "x.hcl", keys: [web] }]);
    await store.saveJobFiles("main", "1".repeat(40), [{ file: "old.hcl", keys: [web] }]);
    const files = [
      { file: "a.hcl", keys: [web] },
      { file: "b.hcl", keys: [web, api] },
      { file: "broken.hcl", keys: [] },
    ];
    await store.saveJobFiles("main", "2".repeat(40), files);
    expect(await store.jobFiles("main")).toEqual({ commit: "2".repeat(40), files });
    expect((await store.jobFiles("other")).commit).toBe("9".repeat(40));
  });

  it("remember which removals a person accepted, and survive the next save", async () => {
    const store = memoryStore();
    await store.acceptRemovals("main", "1".repeat(40), aPerson());
    await store.saveJobFiles("main", "2".repeat(40), []);
    expect(await store.acceptedRemovals("main")).toBe("1".repeat(40));
    await store.recordRepositoryEvent("main", "history_rewritten", engineActor, "the branch was rewritten");
    expect((await store.listEvents({ limit: 9, repository: "main" })).items.map((event) => event.kind)).toEqual([
      "history_rewritten",
      "removals_accepted",
    ]);
  });
});

describe("refreshBase", () => {
  it("is refused after the register and after the end", async () => {
    const store = memoryStore();
    const created = await store.create(aNewDeployment());
    await store.refreshBase(created.id, 1, 101);
    await expect(store.refreshBase(created.id, 1, 102)).rejects.toMatchObject({ code: "stale_version" });
    await store.move(created.id, 2, aMove());
    await store.refreshBase(created.id, 3, 102);
    await store.recordApplied(created.id, 4, { index: 110, jobVersion: 1, evalId: undefined });
    await expect(store.refreshBase(created.id, 5, 111)).rejects.toMatchObject({ name: "ConflictError", code: "not_allowed" });
    await store.move(created.id, 5, aMove({ trigger: "step_ok" }));
    await expect(store.refreshBase(created.id, 6, 111)).rejects.toMatchObject({ code: "not_allowed" });
  });
});
