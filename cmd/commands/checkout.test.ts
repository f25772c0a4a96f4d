/** `nops check` and `nops plan` on a checkout: what they tell of files, of the cluster, and of a Nomad that is away. */
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { hookJob, serviceJob } from "../../e2e/suites/job-text.ts";
import { createSimulator } from "../../simulator/server.ts";
import { commandLine } from "../../testkit/command-line.ts";
import { createTempRepository, type TempRepository } from "../../testkit/temp-git.ts";
import { systemClock } from "../system-clock.ts";

const simulator = createSimulator({ clock: systemClock });
let nomad: string;
let repository: TempRepository;

beforeAll(async () => {
  nomad = (await simulator.listen(0)).address;
});
afterAll(() => simulator.close());

beforeEach(async () => {
  repository = await createTempRepository();
  onTestFinished(repository.remove);
});

const nops = (...args: readonly string[]) => commandLine(args, { folder: repository.dir, env: { NOMAD_ADDR: nomad } });

const refused = 'job "refused" {\n  group "g" {\n    nosuch = 1\n  }\n}\n';
const unclosed = 'job "unclosed" {\n  group "g" {\n';
const wrongKeys = serviceJob({ id: "keys", meta: { nops_policy: "sometimes", nops_pre_hook: "nowhere" } });
const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split("\n").length;

describe.each([
  ["with Nomad", []],
  ["offline", ["--offline"]],
] as const)("check %s", (_, flags) => {
  const files = { "jobs/refused.hcl": refused, "jobs/unclosed.nomad.hcl": unclosed, "jobs/keys.hcl": wrongKeys };

  it("names each place once, as seen from the working directory", async () => {
    await repository.commit({ files });
    for (const args of [["jobs"], ["jobs/refused.hcl", "jobs/unclosed.nomad.hcl", "jobs/keys.hcl"], []]) {
      const { code, out } = await nops("check", ...args, ...flags);
      expect(code).toBe(1);
      const lines = out.trim().split("\n").sort();
      expect(lines).toEqual([
        `jobs/keys.hcl:${lineOf(wrongKeys, "nops_policy")}: error: nops_policy: "sometimes" is not allowed; it must be auto or approval or none`,
        expect.stringMatching(`^jobs/keys.hcl:${lineOf(wrongKeys, "nops_pre_hook")}: error: pre-hook nowhere is missing`),
        'jobs/refused.hcl:3: error: Unsupported argument; An argument named "nosuch" is not expected here.',
        expect.stringMatching("^jobs/unclosed.nomad.hcl:2: error: Unclosed configuration block; There is no closing brace"),
      ]);
    }
  });

  it("as JSON has file, line and message apart", async () => {
    await repository.commit({ files });
    const { problems } = JSON.parse((await nops("check", "--json", ...flags)).out);
    expect(problems).toContainEqual({
      severity: "error",
      file: "jobs/refused.hcl",
      line: 3,
      message: 'Unsupported argument; An argument named "nosuch" is not expected here.',
    });
    expect(problems.map((problem: { line: number | null }) => problem.line)).not.toContain(null);
  });
});

it("check says which of the paths hold no job", async () => {
  await repository.commit({ files: { "web.hcl": serviceJob({ id: "web" }), "docs/read.me": "nothing" } });
  const { code, err } = await nops("check", "web.hcl", "docs", "docs/read.me");
  expect(code).toBe(0);
  const empty = ["docs", "docs/read.me"].map((path) => `warning: ${path} holds no job file\n`);
  expect(err).toBe(`${empty.join("")}1 job file, 0 errors, 0 warnings\n`);
});

it.each(["check", "plan"])("%s without Nomad says what to do instead", async (command) => {
  await repository.commit({ files: { "web.hcl": serviceJob({ id: "web" }) } });
  const { code, err } = await commandLine([command], { folder: repository.dir });
  expect(code).toBe(5);
  expect(err).toContain("http://127.0.0.1:1");
  expect(err).toMatch(/^hint: .*NOMAD_ADDR.*nops check --offline/m);
});

describe("plan", () => {
  const files = {
    "web.hcl": serviceJob({ id: "web", meta: { nops_pre_hook: "migrate", nops_post_hook: "smoke" } }),
    "migrate.hcl": hookJob("migrate", "true"),
    "smoke.hcl": hookJob("smoke", "true"),
  };

  it("tells of hooks, in text, markdown and JSON", async () => {
    await repository.commit({ files });
    expect((await nops("plan")).out).toContain(
      "deploy default/web (web.hcl): would be deployed\n  with pre-hook migrate, post-hook smoke\n",
    );
    expect((await nops("plan", "--format", "markdown")).out).toContain("would be deployed (pre-hook migrate, post-hook smoke)");
    expect(JSON.parse((await nops("plan", "--json")).out).jobs[0].hooks).toEqual([
      { phase: "pre", job: "migrate", usable: true },
      { phase: "post", job: "smoke", usable: true },
    ]);
  });

  it("tells when a closed window would hold an automatic start, and only such", async () => {
    const never = { nops_deny_window: "* * * * *", nops_deny_window_duration: "1h" };
    const windowed = (id: string, policy: string) => serviceJob({ id, meta: { nops_policy: policy, ...never } });
    await repository.commit({ files: { "held.hcl": windowed("held", "auto"), "asks.hcl": windowed("asks", "approval") } });
    const { out } = await nops("plan");
    expect(out).toMatch(/^deploy default\/held \(held\.hcl\): would be held: a deny window is open; /m);
    expect(out).toContain("ask default/asks (asks.hcl): would wait for approval\n");
  });

  it("tells of live jobs that the commit does not have, and only of those that nops manages", async () => {
    await repository.commit({ files });
    const group = { Name: "g", Tasks: [{ Name: "t", Driver: "raw_exec", Config: { command: "/bin/sleep", args: ["60"] } }] };
    const job = (ID: string, Meta: Readonly<Record<string, string>>) => ({
      ID,
      Name: ID,
      Type: "service",
      Meta,
      TaskGroups: [group],
    });
    for (const Job of [job("left", { nops_managed: "true" }), job("foreign", {}), job("web", { nops_managed: "true" })])
      await fetch(`${nomad}/v1/jobs`, { method: "POST", body: JSON.stringify({ Job }) });
    onTestFinished(async () => {
      for (const id of ["left", "foreign", "web"]) await fetch(`${nomad}/v1/job/${id}?purge=true`, { method: "DELETE" });
    });
    const { out } = await nops("plan");
    expect(out).toMatch(/^orphan default\/left is managed by nops and not in the commit; it goes on running/m);
    expect(out).not.toContain("foreign");
    expect(JSON.parse((await nops("plan", "--json")).out).orphans).toEqual([{ namespace: "default", job: "left" }]);
    expect((await nops("plan", "--format", "markdown")).out).toContain("| default/left | orphan |");
  });

  it("says which edits are not in the commit, unless another one was asked for", async () => {
    await repository.commit({
      files: { ...files, "gone.hcl": serviceJob({ id: "gone" }), "notes.txt": "x", "run.sh": "#!/bin/sh\n" },
    });
    expect((await nops("plan")).err).not.toContain("not in the commit");
    appendFileSync(join(repository.dir, "web.hcl"), "# edited\n");
    rmSync(join(repository.dir, "gone.hcl"));
    writeFileSync(join(repository.dir, "new.nomad.hcl"), "");
    writeFileSync(join(repository.dir, "new.txt"), "");
    const edited = "gone.hcl, new.nomad.hcl, web.hcl";
    expect((await nops("plan")).err).toBe(`warning: not in the commit, so not in this plan: ${edited}\n`);
    expect(JSON.parse((await nops("plan", "--json")).out).uncommitted).toEqual(edited.split(", "));
    expect((await nops("plan", "--ref", "main")).err).toBe("");
  });

  it("names the place of a broken file once", async () => {
    await repository.commit({ files: { "refused.hcl": refused, "unclosed.nomad.hcl": unclosed } });
    const { code, out } = await nops("plan");
    expect(code).toBe(1);
    expect(out).toContain('error refused.hcl:3: Unsupported argument; An argument named "nosuch" is not expected here.\n');
    expect(out).toContain("error unclosed.nomad.hcl:2: Unclosed configuration block;");
  });

  it("of a bare repository is one too", async () => {
    const bare = await createTempRepository({ bare: true });
    onTestFinished(bare.remove);
    await bare.commit({ files });
    const ran = await commandLine(["plan", basename(bare.dir)], { folder: dirname(bare.dir), env: { NOMAD_ADDR: nomad } });
    expect(ran).toMatchObject({ code: 0, err: "", out: expect.stringContaining("deploy default/web") });
  });
});
