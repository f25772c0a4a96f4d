import { describe, expect, it } from "vitest";
import { systemRandom } from "../../cmd/system-clock.ts";
import { jobKey } from "../../model/job-key.ts";
import { parseNomadVersion } from "../../nomad/version.ts";
import { type Bench, failure, nightly, noSubmission, parsed } from "./nomad-server.ts";

const unique = (): string => Buffer.from(systemRandom.bytes(4)).toString("hex");

export function clusterCases(use: () => Bench): void {
  describe("variables", () => variableCases(use));
  describe("locks", () => lockCases(use));
  describe("namespaces", () => namespaceCases(use));
  describe("the agent", () => {
    it("tells its version, leader and nodes", async () => {
      const { client } = use();
      const info = await client.agentSelf();
      expect(parseNomadVersion(info.version)).toBeDefined();
      expect(info.region).toBe("global");
      expect(await client.statusLeader()).toMatch(/:\d+$/);
      expect(await client.listNodes()).toContainEqual(
        expect.objectContaining({ Status: "ready", SchedulingEligibility: "eligible" }),
      );
      await client.systemGc();
    });
  });
}

function variableCases(use: () => Bench): void {
  it("go by their index: 0 creates, the newest one updates, others conflict", async () => {
    const { client } = use();
    const path = `nops/test/${unique()}`;
    expect(await client.getVariable("default", path)).toBeUndefined();
    const made = await client.putVariable("default", path, { a: "one" }, 0);
    expect(made).toMatchObject({ Path: path, Namespace: "default", Items: { a: "one" } });
    await failure("conflict", client.putVariable("default", path, { a: "two" }, 0));
    const changed = await client.putVariable("default", path, { a: "two" }, made.ModifyIndex);
    expect(changed.ModifyIndex).toBeGreaterThan(made.ModifyIndex);
    await failure("conflict", client.putVariable("default", path, { a: "three" }, made.ModifyIndex));
    await failure("conflict", client.deleteVariable("default", path, made.ModifyIndex));
    expect(await client.getVariable("default", path)).toMatchObject({ Items: { a: "two" }, ModifyIndex: changed.ModifyIndex });
    expect((await client.listVariables("default", path)).map(({ Path }) => Path)).toEqual([path]);
    await client.putVariable("default", path, { a: "any" });
    await client.deleteVariable("default", path);
    await client.deleteVariable("default", path);
    expect(await client.listVariables("default", path)).toEqual([]);
  });

  it("never show their items in an error", async () => {
    const { client } = use();
    const path = `nops/test/${unique()}`;
    await client.putVariable("default", path, { secret: "canary-items" });
    const conflict = await failure("conflict", client.putVariable("default", path, { secret: "canary-other" }, 1));
    expect(JSON.stringify(conflict) + conflict.stack).not.toContain("canary");
    expect((await failure("refused", client.putVariable("default", path, {}))).message).toContain("Items");
    await client.deleteVariable("default", path);
  });
}

function lockCases(use: () => Bench): void {
  it("have one holder, who renews and releases", async () => {
    const { client } = use();
    const path = `nops/lock/${unique()}`;
    const times = { ttl: "10s", lockDelay: "1s" };
    const { lockId } = await client.acquireLock("default", path, { holder: "one" }, times);
    await failure("conflict", client.acquireLock("default", path, { holder: "two" }, times));
    await failure("conflict", client.putVariable("default", path, { holder: "three" }));
    await client.renewLock("default", path, lockId);
    await failure("conflict", client.renewLock("default", path, "11111111-2222-3333-4444-555555555555"));
    expect(await client.getVariable("default", path)).toMatchObject({ Items: { holder: "one" } });
    await client.releaseLock("default", path, lockId);
    await failure("conflict", client.renewLock("default", path, lockId));
    const again = await client.acquireLock("default", path, { holder: "two" }, times);
    await client.releaseLock("default", path, again.lockId);
    await client.deleteVariable("default", path);
  });
}

function namespaceCases(use: () => Bench): void {
  it("are made, listed, used, and deleted when empty", async () => {
    const bench = use();
    const { client } = bench;
    const name = `team-${unique()}`;
    const key = jobKey(name, "job");
    expect(await client.readNamespace(name)).toBeUndefined();
    await client.registerNamespace({ Name: name, Description: "of a test" });
    expect(await client.readNamespace(name)).toMatchObject({ Name: name, Description: "of a test" });
    expect((await client.listNamespaces()).map(({ Name }) => Name)).toEqual(expect.arrayContaining(["default", name]));
    const spec = await parsed(bench, nightly("job", `namespace = "${name}"`));
    await client.register(spec, 0, noSubmission);
    expect(await client.readJob(key)).toMatchObject({ Namespace: name });
    expect(await client.readJob(jobKey("default", "job"))).toBeUndefined();
    expect((await client.listJobs(name)).jobs.map(({ ID }) => ID)).toEqual(["job"]);
    await failure("refused", client.deleteNamespace(name));
    await client.purgeJob(key);
    await client.deleteNamespace(name);
    expect(await client.readNamespace(name)).toBeUndefined();
  });
}
