import { describe, expect, it } from "vitest";
import { jobKey } from "../../model/job-key.ts";
import { type Bench, eventually, failure, hook, registered, sleeper } from "./nomad-server.ts";

export function dispatchCases(use: () => Bench): void {
  describe("dispatch", () => {
    tokenCases(use);
    refusalCases(use);
  });
}

function tokenCases(use: () => Bench): void {
  it("runs once for one token, and finds the child by it", async () => {
    const bench = use();
    const id = bench.id("hook");
    const key = bench.key(id);
    await registered(bench, hook(id));
    expect(await bench.client.findDispatched(key, "run-1")).toBeUndefined();
    const first = await bench.client.dispatch(key, "run-1", { nops_job_id: "web" });
    expect(first.exists).toBe(true);
    expect(first.childId).toMatch(new RegExp(`^${id}/dispatch-\\d+-[0-9a-f]{8}$`));
    expect(await bench.client.dispatch(key, "run-1", { nops_job_id: "web" })).toEqual(first);
    const child = await bench.client.findDispatched(key, "run-1");
    expect(child).toMatchObject({
      ID: first.childId,
      ParentID: id,
      DispatchIdempotencyToken: "run-1",
      Meta: { nops_job_id: "web" },
    });
    const other = await bench.client.dispatch(key, "run-2", { nops_job_id: "web", nops_commit: "abc" });
    expect(other.childId).not.toBe(first.childId);
    await eventually("the end of the child", async () =>
      (await bench.client.readJob(jobKey("default", first.childId)))?.Status === "dead" ? true : undefined,
    );
    expect(await bench.client.dispatch(key, "run-1", { nops_job_id: "web" })).toEqual(first);
    for (const { childId } of [first, other]) await bench.client.purgeJob(jobKey("default", childId));
  });

  it("of many at once makes one child, whatever the answers name", async () => {
    const bench = use();
    const id = bench.id("hook");
    const key = bench.key(id);
    await registered(bench, hook(id));
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => bench.client.dispatch(key, "only-one", { nops_job_id: "web" })),
    );
    const child = await bench.client.findDispatched(key, "only-one");
    expect(new Set(answers.filter(({ exists }) => exists).map(({ childId }) => childId))).toEqual(new Set([child?.ID]));
    const { jobs } = await bench.client.listJobs("default", { prefix: `${id}/dispatch-` });
    expect(jobs).toHaveLength(1);
    expect(jobs[0]).toMatchObject({ ParentID: id });
    await bench.client.purgeJob(jobKey("default", child?.ID ?? ""));
  });
}

function refusalCases(use: () => Bench): void {
  it("is refused where the rules forbid it, and then nothing has happened", async () => {
    const bench = use();
    const { client } = bench;
    const id = bench.id("hook");
    const plain = bench.id("plain");
    await registered(bench, hook(id));
    await registered(bench, sleeper(plain, { count: 0 }));
    const meta = { nops_job_id: "web" };
    expect((await failure("refused", client.dispatch(bench.key(id), "t", {}))).message).toContain("required meta keys");
    const unknown = await failure("refused", client.dispatch(bench.key(id), "t", { ...meta, other: "a" }));
    expect(unknown.message).toContain("unpermitted metadata keys: [other]");
    expect((await failure("refused", client.dispatch(bench.key(plain), "t", meta))).message).toContain("not a parameterized job");
    await failure("not_found", client.dispatch(bench.key("no-such-hook"), "t", meta));
    await client.stopJob(bench.key(id));
    expect((await failure("refused", client.dispatch(bench.key(id), "t", meta))).message).toContain("is stopped");
    expect(await client.findDispatched(bench.key(id), "t")).toBeUndefined();
  });
}
