import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../model/log.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { createTempRepository } from "../testkit/temp-git.ts";
import type { createGitSource as CreateGitSource, GitSourceOptions } from "./source.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Dies or hangs at its start when a file beside it says so, as often as that file has lines. */
const faultyWorker = `
import { readFileSync, writeFileSync } from "node:fs";
const control = new URL("./control", import.meta.url);
const [fault, ...rest] = readFileSync(control, "utf8").split("\\n");
writeFileSync(control, rest.join("\\n"));
if (fault === "exit") process.exit(3);
if (fault === "throw") throw new Error("canary fault");
while (fault === "hang");
await import("./real-worker.js");
`;

/** Compiles what the git thread needs as the build does, because Node 20 runs no TypeScript in a thread. */
function compile(target: string): void {
  for (const folder of ["model", "hcl", "git"]) {
    mkdirSync(join(target, folder));
    for (const name of readdirSync(join(root, folder))) {
      if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
      const { outputText } = ts.transpileModule(readFileSync(join(root, folder, name), "utf8"), {
        compilerOptions: {
          target: ts.ScriptTarget.ES2023,
          module: ts.ModuleKind.ESNext,
          verbatimModuleSyntax: true,
          rewriteRelativeImportExtensions: true,
        },
      });
      writeFileSync(join(target, folder, name.replace(/\.ts$/, ".js")), outputText);
    }
  }
  renameSync(join(target, "git", "worker.js"), join(target, "git", "real-worker.js"));
  writeFileSync(join(target, "git", "worker.js"), faultyWorker);
  writeFileSync(join(target, "package.json"), '{"type": "module"}');
  symlinkSync(join(root, "node_modules"), join(target, "node_modules"));
}

let compiled = "";
let createGitSource: typeof CreateGitSource;
const cleanUps: (() => unknown)[] = [];

beforeAll(async () => {
  compiled = mkdtempSync(join(tmpdir(), "nops-compiled-"));
  compile(compiled);
  const path: string = pathToFileURL(join(compiled, "git", "source.js")).href;
  ({ createGitSource } = (await import(/* @vite-ignore */ path)) as { createGitSource: typeof CreateGitSource });
}, 120_000);

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

afterAll(() => rmSync(compiled, { recursive: true, force: true }));

const job = (name: string) => `job "${name}" {\n  group "g" {\n    task "t" {\n      driver = "exec"\n    }\n  }\n}\n`;

async function setUp(options: Partial<GitSourceOptions> = {}, faults: readonly string[] = []) {
  writeFileSync(join(compiled, "git", "control"), faults.join("\n"));
  return setUpSource(options);
}

async function setUpSource(options: Partial<GitSourceOptions>) {
  const repository = await createTempRepository({ bare: true });
  cleanUps.push(repository.remove);
  const dataDir = mkdtempSync(join(tmpdir(), "nops-thread-"));
  cleanUps.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await repository.serveHttp();
  const clock = new FakeClock();
  const repositories = [
    { name: "remote", url: server.url, branch: "main" },
    { name: "local", url: repository.dir, branch: "main" },
  ];
  const source = createGitSource({ repositories, dataDir, clock, log: silentLog, environment: {}, mode: "thread", ...options });
  cleanUps.push(() => source.close());
  const fetch = (name: string, known?: string) => source.fetch(name, known, new AbortController());
  async function snapshot(name: string, known?: string) {
    const outcome = await fetch(name, known);
    if (!outcome.changed) throw new Error("nothing changed");
    return outcome.snapshot;
  }
  return { repository, server, clock, source, fetch, snapshot };
}

// Loading the compiler and starting threads is slow on a busy machine.
describe("the git thread, compiled", { timeout: 60_000 }, () => {
  it("reads commit by commit and sends only what changed", async () => {
    const { repository, snapshot, fetch } = await setUp();
    const files = Object.fromEntries(Array.from({ length: 520 }, (_, at) => [`jobs/j${at}.hcl`, job(`j${at}`)]));
    const sha = await repository.commit({ files });
    const first = await snapshot("remote");
    expect(first.files).toHaveLength(520);
    expect(first.files[7]).toMatchObject({ source: first.files[7]?.original, jobName: expect.stringMatching(/^j/) });
    expect(await fetch("remote", sha)).toEqual({ changed: false, sha });
    await repository.commit({ files: { "jobs/j7.hcl": job("new"), "jobs/j9.hcl": null, "jobs/a.hcl": job("a") } });
    const second = await snapshot("remote", sha);
    expect(second.files).toHaveLength(520);
    expect(second.files[0]?.jobName).toBe("a");
    expect(second.files.filter((file) => !first.files.includes(file)).map(({ jobName }) => jobName)).toEqual(["a", "new"]);
    expect((await snapshot("local")).files).toEqual(second.files);
  });

  it("passes errors on with code and hint", async () => {
    const { repository, fetch, server } = await setUp();
    await repository.commit({ files: { a: "b" } });
    server.fault = { status: 404 };
    await expect(fetch("remote")).rejects.toMatchObject({ code: "git_not_found", hint: expect.stringContaining("token") });
  });

  it("knows nothing of the process's environment (S08)", async () => {
    const { repository, snapshot } = await setUp({ environment: { NOMAD_VAR_tag: "canary" } });
    await repository.commit({ files: { "a.hcl": `variable "tag" {}\n${job("a")}` } });
    expect((await snapshot("local")).broken[0]?.message).toContain('variable "tag" has no default');
  });

  it("stops a read that is aborted, and goes on", async () => {
    const { repository, source, server, snapshot } = await setUp();
    await repository.commit({ files: { "a.hcl": job("a") } });
    server.fault = { silent: true };
    const abort = new AbortController();
    const waiting = expect(source.fetch("remote", undefined, abort)).rejects.toMatchObject({ code: "git_aborted" });
    await snapshot("local");
    abort.abort();
    await waiting;
    server.fault = undefined;
    expect((await snapshot("remote")).files).toHaveLength(1);
  });

  it.each(["exit", "throw"])("starts a new thread when one dies (%s), and begins the reads again", async (fault) => {
    const { repository, snapshot } = await setUp({}, [fault]);
    await repository.commit({ files: { "a.hcl": job("a") } });
    const both = await Promise.all([snapshot("local"), snapshot("remote")]);
    expect(both.map(({ files }) => files.length)).toEqual([1, 1]);
  });

  it("gives a read up whose thread dies each time, and tries again with the next one", async () => {
    const { repository, fetch, snapshot } = await setUp({}, ["throw", "throw"]);
    await repository.commit({ files: { "a.hcl": job("a") } });
    await expect(fetch("local")).rejects.toMatchObject({
      code: "git_damaged",
      message: expect.stringContaining("ended while it read"),
    });
    expect((await snapshot("local")).files).toHaveLength(1);
  });

  it("ends a thread that does not react, and lets other reads begin again (S43)", async () => {
    const { repository, source, fetch, clock, snapshot } = await setUp({}, ["hang"]);
    await repository.commit({ files: { "a.hcl": job("a") } });
    const abort = new AbortController();
    const stuck = expect(source.fetch("remote", undefined, abort)).rejects.toMatchObject({ code: "git_aborted" });
    const other = fetch("local");
    // Until the thread has taken its fault: one that is ended before would leave it to the next.
    while (readFileSync(join(compiled, "git", "control"), "utf8") !== "") await new Promise(setImmediate);
    abort.abort();
    await clock.advance(5_000);
    await stuck;
    expect(await other).toMatchObject({ changed: true });
    expect((await snapshot("remote")).files).toHaveLength(1);
  });
});
