import { describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../cmd/system-clock.ts";
import { jobKey } from "../../model/job-key.ts";
import { createNomadClient } from "../../nomad/client.ts";
import { encodeExact } from "../../nomad/json.ts";
import { type Bench, failure, nightly, noSubmission, parsed, registered, sleeper } from "./nomad-server.ts";

export function jobCases(use: () => Bench): void {
  describe("parse", () => parseCases(use));
  describe("plan", () => planCases(use));
  describe("register", () => {
    indexCases(use);
    bodyCases(use);
  });
  describe("reads and stop", () => {
    readCases(use);
    listCases(use);
    stopCases(use);
  });
}

function parseCases(use: () => Bench): void {
  it("gives the job as the file states it, with nothing filled in", async () => {
    const spec = await parsed(use(), sleeper("parse-me", { extra: `meta { who = "\${vra.typo}" }` }));
    expect(spec).toMatchObject({ ID: "parse-me", Name: "parse-me", Type: "service", Namespace: null, Region: null, Stop: null });
    expect(spec.Meta).toEqual({ who: `\${vra.typo}` });
  });

  it("takes variables as the text of a variable file and keeps quiet about unknown ones", async () => {
    const source = `variable "n" { type = number }\n${sleeper("vars").replace("count = 1", "count = var.n")}`;
    const spec = await use().client.parse({ format: "hcl2", source, variables: "n = 3\nother = 1\n" }, "default");
    expect(spec.TaskGroups?.[0]?.Count).toBe(3);
  });

  it.each([
    ["a syntax error", 'job "x" {', "input.hcl:1"],
    ["a variable without a value", `variable "v" {}\n${sleeper("x", { extra: "meta { a = var.v }" })}`, 'Unset variable "v"'],
    ["no job", "# only words\n", "Missing job block"],
    ["a file function", sleeper("x", { extra: 'meta { a = file("a.txt") }' }), "filesystem function disabled"],
    ["nothing", "", "Job spec is empty"],
  ])("refuses %s in its own words", async (_, source, words) => {
    const error = await failure("refused", parsed(use(), source));
    expect(error.status).toBe(400);
    expect(error.message).toContain(words);
  });

  it("takes API JSON as it is", async () => {
    const source = '{"job": {"ID": "j", "CreateIndex": 7, "Big": 9223372036854775807}}';
    const spec = await use().client.parse({ format: "json", source, variables: "" }, "default");
    expect(encodeExact(spec)).toBe('{"ID":"j","Big":9223372036854775807}');
  });
}

function planCases(use: () => Bench): void {
  it("says Added and index 0 for a job that is not there", async () => {
    const bench = use();
    const plan = await bench.client.plan(await parsed(bench, sleeper(bench.id("plan"))));
    expect(plan).toMatchObject({ jobModifyIndex: 0, diff: { Type: "Added" }, failedPlacements: {} });
  });

  it("says None for what is live, and names the field of an edit", async () => {
    const bench = use();
    const id = bench.id("plan");
    const spec = await registered(bench, sleeper(id));
    const live = await bench.client.readJob(bench.key(id));
    expect(await bench.client.plan(spec)).toMatchObject({ jobModifyIndex: live?.JobModifyIndex, diff: { Type: "None" } });
    const edited = await bench.client.plan(await parsed(bench, sleeper(id, { count: 2 })));
    expect(edited.diff).toMatchObject({ Type: "Edited", ID: id });
    expect(edited.diff.TaskGroups?.[0]?.Fields).toContainEqual(
      expect.objectContaining({ Type: "Edited", Name: "Count", Old: "1", New: "2" }),
    );
  });

  it("tells which constraint leaves no node", async () => {
    const bench = use();
    const extra = `constraint {\n    attribute = "\${attr.kernel.name}"\n    value     = "plan9"\n  }`;
    const plan = await bench.client.plan(await parsed(bench, sleeper(bench.id("plan"), { extra })));
    expect(plan.failedPlacements["main"]?.ConstraintFiltered).toEqual({ [`\${attr.kernel.name} = plan9`]: 1 });
  });

  it("refuses a namespace that does not exist", async () => {
    const bench = use();
    const spec = await parsed(bench, sleeper(bench.id("plan"), { extra: 'namespace = "nowhere"' }));
    expect((await failure("refused", bench.client.plan(spec))).message).toContain('nonexistent namespace "nowhere"');
  });

  it("lists what is wrong when it validates", async () => {
    const bench = use();
    const spec = await parsed(bench, sleeper("v").replace('driver = "raw_exec"', ""));
    const { errors } = await bench.client.validate(spec);
    expect(errors.join("\n")).toContain("Missing task driver");
    expect((await failure("refused", bench.client.plan(spec))).message).toContain("Missing task driver");
  });
}

function indexCases(use: () => Bench): void {
  it("goes by the index: 0 creates, the live one updates, every other conflicts and changes nothing", async () => {
    const bench = use();
    const { client } = bench;
    const id = bench.id("cas");
    const key = bench.key(id);
    const first = await parsed(bench, sleeper(id));
    const second = await parsed(bench, sleeper(id, { args: "7200" }));
    expect((await failure("conflict", client.register(first, 999_999, noSubmission))).message).toContain("job does not exist");
    await client.register(first, 0, noSubmission);
    const created = await client.readJob(key);
    expect(created).toMatchObject({ Version: 0, Stop: false, ModifyIndex: expect.any(Number) });
    expect(created?.CreateIndex).toBe(created?.JobModifyIndex);
    const index = created?.JobModifyIndex ?? 0;
    expect((await failure("conflict", client.register(second, 0, noSubmission))).message).toContain("job already exists");
    expect((await failure("conflict", client.register(second, index + 1, noSubmission))).message).toContain(
      `conflicting job modify index: ${index}`,
    );
    expect(await client.readJob(key)).toMatchObject({ Version: 0, JobModifyIndex: index });
    await client.register(second, index, noSubmission);
    const updated = await client.readJob(key);
    expect(updated?.Version).toBe(1);
    expect(updated?.JobModifyIndex).toBeGreaterThan(index);
  });

  it("makes no version of what is live already, but an evaluation", async () => {
    const bench = use();
    const id = bench.id("same");
    const spec = await registered(bench, sleeper(id));
    const before = await bench.client.readJob(bench.key(id));
    const { evalId } = await bench.client.register(spec, before?.JobModifyIndex ?? 0, noSubmission);
    expect(evalId).not.toBe("");
    const after = await bench.client.readJob(bench.key(id));
    expect(after).toMatchObject({ Version: 0, JobModifyIndex: before?.JobModifyIndex });
  });
}

function bodyCases(use: () => Bench): void {
  it("ignores versions and indexes that a specification carries along", async () => {
    const bench = use();
    const id = bench.id("carried");
    const spec = { ...(await parsed(bench, sleeper(id))), Version: 40, Stable: true, JobModifyIndex: 5, Status: "dead" };
    await bench.client.register(spec, 0, noSubmission);
    expect(await bench.client.readJob(bench.key(id))).toMatchObject({ Version: 0, Stable: false });
  });

  it("brings integers beyond 2^53 there and back without losing a digit", async () => {
    const bench = use();
    const id = bench.id("big");
    const delay = `shutdown_delay = "${bench.bigInteger}ns"\n      config {`;
    const spec = await registered(bench, sleeper(id, { count: 0 }).replace("config {", delay));
    expect(encodeExact(spec)).toContain(`"ShutdownDelay":${bench.bigInteger}`);
    const live = await bench.client.readJob(bench.key(id));
    expect(encodeExact(live)).toContain(`"ShutdownDelay":${bench.bigInteger}`);
    expect((await bench.client.plan(spec)).diff.Type).toBe("None");
  });

  it("lets one of many writers with one index win", async () => {
    const bench = use();
    const id = bench.id("race");
    const specs = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => parsed(bench, sleeper(id, { args: `${n}000` }))));
    const results = await Promise.allSettled(specs.map((spec) => bench.client.register(spec, 0, noSubmission)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await bench.client.readJob(bench.key(id))).toMatchObject({ Version: 0 });
  });

  it("gives no evaluation for a periodic job", async () => {
    const bench = use();
    const id = bench.id("cron");
    const spec = await parsed(bench, nightly(id));
    expect(await bench.client.register(spec, 0, noSubmission)).toMatchObject({ evalId: "" });
    expect(await bench.client.readJob(bench.key(id))).toMatchObject({ Status: "running" });
  });
}

function readCases(use: () => Bench): void {
  it("tells an absent job from a failure", async () => {
    const { client } = use();
    const key = jobKey("default", "no/such.job");
    expect(await client.readJob(key)).toBeUndefined();
    expect(await client.jobVersions(key)).toEqual([]);
    expect(await client.readSubmission(key, 0)).toBeUndefined();
    expect(await client.listAllocations(key)).toEqual([]);
    expect(await client.listEvaluations(key)).toEqual([]);
    expect(await client.listNomadDeployments(key)).toEqual([]);
    await client.stopJob(key);
  });

  it("keeps the source of each version, newest version first, and goes back", async () => {
    const bench = use();
    const id = bench.id("versions");
    const key = bench.key(id);
    const source = sleeper(id);
    await registered(bench, source);
    const first = await bench.client.readJob(key);
    const other = sleeper(id, { args: "60" });
    await bench.client.register(await parsed(bench, other), first?.JobModifyIndex ?? 0, {
      source: `# nops\n${other}`,
      format: "hcl2",
      variables: 'a = "1"',
    });
    const versions = await bench.client.jobVersions(key);
    expect(versions.map(({ Version }) => Version)).toEqual([1, 0]);
    expect(versions[1]?.JobModifyIndex).toBe(first?.JobModifyIndex);
    expect(await bench.client.readSubmission(key, 0)).toMatchObject({ Source: source, Format: "hcl2", Version: 0 });
    expect(await bench.client.readSubmission(key, 1)).toMatchObject({ Source: `# nops\n${other}` });
    const third = await parsed(bench, sleeper(id, { args: "61" }));
    await bench.client.register(third, versions[0]?.JobModifyIndex ?? 0, {
      source: JSON.stringify(third),
      format: "json",
      variables: "",
      variableFlags: { nops_deployment: "01J", nops_commit: "abc" },
    });
    // Where a JSON source carries its stamp (decision 3.7).
    expect(await bench.client.readSubmission(key, 2)).toMatchObject({
      Format: "json",
      VariableFlags: { nops_deployment: "01J", nops_commit: "abc" },
    });
    await bench.client.revertJob(key, 0, 2);
    expect((await bench.client.readJob(key))?.Version).toBe(3);
    await failure("refused", bench.client.revertJob(key, 3));
  });

  it("reaches a job whose ID holds slashes", async () => {
    const bench = use();
    const id = bench.id("team/web.v1");
    await registered(bench, sleeper(id));
    expect(await bench.client.readJob(bench.key(id))).toMatchObject({ ID: id });
    expect((await bench.client.plan(await parsed(bench, sleeper(id)))).diff.Type).toBe("None");
  });
}

function listCases(use: () => Bench): void {
  it("lists by prefix, with meta, by filter, and over pages", async () => {
    const bench = use();
    const stem = bench.id("list");
    const ids = ["a", "b", "c", "d", "e"].map((end) => `${stem}-${end}`);
    for (const id of ids) await registered(bench, sleeper(id, { extra: `meta { is = "${id}" }`, count: 0 }));
    const paged = createNomadClient({
      address: bench.address,
      token: bench.token,
      clock: systemClock,
      random: systemRandom,
      pageSize: 2,
    });
    try {
      const all = await paged.listJobs("default", { prefix: stem, meta: true });
      expect(all.jobs.map(({ ID }) => ID)).toEqual(ids);
      expect(all.jobs[0]).toMatchObject({
        Meta: { is: ids[0] },
        ParentID: "",
        Periodic: false,
        ParameterizedJob: false,
        Stop: false,
      });
      expect(all.index).toBeGreaterThanOrEqual(Math.max(...all.jobs.map(({ JobModifyIndex }) => JobModifyIndex)));
      const one = await paged.listJobs("*", { prefix: stem, filter: `ID == "${ids[2]}"` });
      expect(one.jobs).toHaveLength(1);
      expect(one.jobs[0]?.Meta ?? undefined).toBeUndefined();
      await failure("refused", paged.listJobs("default", { filter: "ID ==" }));
    } finally {
      paged.close();
      for (const id of ids) await bench.client.purgeJob(bench.key(id));
    }
  });
}

function stopCases(use: () => Bench): void {
  it("keeps a stopped job until it is purged", async () => {
    const bench = use();
    const id = bench.id("stop");
    const key = bench.key(id);
    const spec = await registered(bench, sleeper(id));
    await bench.client.stopJob(key);
    const stopped = await bench.client.readJob(key);
    expect(stopped).toMatchObject({ Stop: true, Version: 1 });
    const plan = await bench.client.plan(spec);
    expect(plan).toMatchObject({ jobModifyIndex: stopped?.JobModifyIndex, diff: { Type: "Edited" } });
    expect(plan.diff.Fields).toContainEqual(expect.objectContaining({ Name: "Stop", Old: "true", New: "false" }));
    await bench.client.purgeJob(key);
    expect(await bench.client.readJob(key)).toBeUndefined();
    expect(await bench.client.listNomadDeployments(key)).toEqual([]);
  });
}
