import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { commandLine } from "../testkit/command-line.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { createTempRepository } from "../testkit/temp-git.ts";
import { testWorkspace } from "../testkit/workspace.ts";
import { twoServices } from "../testkit/workspace-steps.ts";

afterEach(() => vi.unstubAllGlobals());

const inWorkspace = new Set(["deploy", "status", "services", "validate", "snapshot"]);

/** One of every kind of command, and of every kind of error. */
const failing: readonly (readonly [string, readonly string[], number, string])[] = [
  ["a server that is away", ["jobs"], 5, "unreachable"],
  ["nothing that can be asked", ["approve", "web"], 5, "unreachable"],
  ["a flag that is missing", ["pause", "web"], 2, "usage"],
  ["an unknown flag", ["jobs", "--frce"], 2, "usage"],
  ["an unknown choice", ["jobs", "--state", "bad"], 2, "usage"],
  ["an unknown command", ["aprove", "x"], 2, "usage"],
  ["a database that is not there", ["token", "list", "--data-dir", "/nowhere"], 4, "not_found"],
  ["a folder that is not there", ["check", "/nowhere", "--offline"], 4, "not_found"],
  ["a Nomad that is away", ["plan", "."], 5, "nomad_not_sent"],
  ["no configuration", ["doctor"], 2, "invalid_configuration"],
  ["a wrong section", ["status", "nothing"], 2, "unknown_section"],
  ["an unknown service", ["deploy", "run", "--service", "none"], 2, "unknown_service"],
  ["an unknown step", ["deploy", "why", "a/b/c"], 4, "unknown_step"],
];

/** The checkout of these tests need not be one of git. */
async function repositoryWithJob(): Promise<string> {
  const repository = await createTempRepository();
  onTestFinished(() => repository.remove());
  await repository.commit({ files: { "web.nomad.hcl": 'job "web" {\n  meta {\n    nops_managed = "true"\n  }\n}\n' } });
  return repository.dir;
}

describe.each(failing)("%s", (_, args, code, name) => {
  const folder = async (): Promise<string> =>
    inWorkspace.has(args[0] ?? "") ? testWorkspace(twoServices).root : await repositoryWithJob();

  it("is told with --json as one object at the end of stderr, in the shape of the API", async () => {
    const ran = await commandLine([...args, "--json"], { folder: await folder() });
    expect(ran).toMatchObject({ code, out: "" });
    const { error } = JSON.parse(ran.err.trim().split("\n").at(-1) ?? "") as { error: Record<string, unknown> };
    expect(Object.keys(error)).toEqual(["code", "message", "hint"]);
    expect(error.code).toBe(name);
  });

  it("is told without as text, once", async () => {
    const ran = await commandLine(args, { folder: await folder() });
    expect(ran).toMatchObject({ code, out: "" });
    expect(ran.err).toMatch(/^nops: ./m);
    expect(ran.err).not.toContain('{"error"');
    const lines = ran.err.trim().split("\n");
    expect(new Set(lines).size).toBe(lines.length);
  });
});

it("the help of a configuration flag says what may stand there and the default; true or false can be said both ways", async () => {
  const { out } = await commandLine(["doctor", "--help"]);
  expect(out).toMatch(/^ +--log-format <value> .*\(one of json, text; default json\)$/m);
  expect(out).toMatch(/^ +--nomad-namespaces <value> .*\(comma-separated; default \[default\]\)$/m);
  expect(out).toMatch(/^ +--approval-author-may-approve \[value\] .*\(true or false; default true\)$/m);
  const { err } = await commandLine(["doctor", "--approval-author-may-approve=maybe", "--git-url", "/nowhere"]);
  expect(err).toContain('--approval-author-may-approve: must be true or false, not "maybe"');
});

it("a refusal of the API keeps its code and its hint", async () => {
  const body = { error: { code: "stale_approval", message: "git moved on", hint: "look again" } };
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body), { status: 409 }));
  const ran = await commandLine(["reject", "01J0000000000000000000000A", "--json"]);
  expect(ran.code).toBe(3);
  expect(JSON.parse(ran.err)).toEqual(body);
});

it("a bug is told with its stack, also as JSON", async () => {
  vi.stubGlobal("fetch", async () => Promise.resolve({ ok: true, text: () => Promise.reject(new RangeError("a bug")) }));
  expect((await commandLine(["jobs"])).err).toMatch(/^nops: RangeError: a bug\n {4}at /);
  expect(JSON.parse((await commandLine(["jobs", "--json"])).err)).toMatchObject({
    error: { code: "internal", message: expect.stringContaining("at ") },
  });
});

it("what was not understood names the help that explains it", async () => {
  expect((await commandLine(["deploy", "run", "--frce"])).err).toBe(
    "nops: unknown option '--frce'\n(Did you mean --force?)\nhint: nops deploy run --help\n",
  );
  expect((await commandLine(["deploy"])).err).toMatch(/^Usage: nops deploy/);
});

it("doctor takes the configuration as serve does, also without a file", async () => {
  const folder = tempFolder();
  const ran = await commandLine(
    ["doctor", "--nomad-addr", "http://127.0.0.1:1", "--git-url", join(folder, "nowhere"), "--data-dir", "d"],
    {
      folder,
    },
  );
  expect(ran.code).toBe(1);
  expect(ran.out).toContain("no connection to Nomad at http://127.0.0.1:1");
  expect(ran.out).toContain(`${join(folder, "nowhere")} does not exist`);
  const flags = async (command: string) =>
    [...(await commandLine([command, "--help"])).out.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag);
  const own = new Set(["--read-only", "--json"]);
  const [serve, doctor] = [await flags("serve"), await flags("doctor")];
  expect(doctor.filter((flag) => !own.has(flag ?? ""))).toEqual(serve.filter((flag) => !own.has(flag ?? "")));
});

it("the help tells the two faces apart", async () => {
  const { out } = await commandLine(["--help"]);
  const titles = [
    "Run:",
    "Before a push or a first start:",
    "Ask the operator:",
    "Tell the operator:",
    "The operator's database:",
    "Workspace:",
  ];
  const places = titles.map((title) => out.indexOf(`\n${title}\n`));
  expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true);
  expect(out.indexOf("the deploy pipeline of a workspace")).toBeGreaterThan(places.at(-1) ?? 0);
});

it("what the system refuses is told without a stack", async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, ".nops/deploy/state.yml"), { recursive: true });
  writeFileSync(join(folder, "nops.workspace.yml"), "project: x\n");
  const { code, err } = await commandLine(["status"], { folder });
  expect(code).toBe(1);
  expect(err).toBe(
    `nops: the system refuses to read ${join(folder, ".nops/deploy/state.yml")}: EISDIR\nhint: look whether it is there, whether this user may use it, and whether there is room\n`,
  );
  expect((await commandLine(["deploy", "eject", "--out", "no/where"], { folder })).err).toContain(
    `refuses to open ${join(folder, "no/where")}: ENOENT`,
  );
  expect(JSON.parse((await commandLine(["status", "--json"], { folder })).err)).toMatchObject({
    error: { code: "system_error" },
  });
});
