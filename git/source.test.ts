import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Log } from "../model/log.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { createCommitSigner } from "../testkit/signed-commit.ts";
import { createTempRepository, type TempCommit, type TempRepository } from "../testkit/temp-git.ts";
import { createGitSource, type GitRepositoryConfig, type GitSourceOptions } from "./source.ts";

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const job = (name: string) => `job "${name}" {\n  group "g" {\n    task "t" {\n      driver = "exec"\n    }\n  }\n}\n`;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "nops-source-"));
  cleanUps.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function repository(bare = true): Promise<TempRepository> {
  const made = await createTempRepository({ bare });
  cleanUps.push(made.remove);
  return made;
}

function recordingLog(lines: string[]): Log {
  const add = (message: string, fields?: unknown) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { debug: add, info: add, warn: add, error: add, child: () => recordingLog(lines) };
}

function open(config: Partial<GitRepositoryConfig> & { url: string }, options: Partial<GitSourceOptions> = {}) {
  const log: string[] = [];
  const clock = new FakeClock();
  const dataDir = folder();
  const repositories = [{ name: "main", branch: "main", ...config }];
  const source = createGitSource({ repositories, dataDir, clock, log: recordingLog(log), environment: {}, ...options });
  cleanUps.push(() => source.close());
  const fetch = (known?: string, abort = new AbortController()) => source.fetch("main", known, abort);
  async function snapshot(known?: string) {
    const outcome = await fetch(known);
    if (!outcome.changed) throw new Error("nothing changed");
    return outcome;
  }
  return { source, fetch, snapshot, log, clock, dataDir };
}

describe("createGitSource", () => {
  it.each([
    ["a bare repository by path", true, (made: TempRepository) => made.dir],
    ["a normal repository by path", false, (made: TempRepository) => made.dir],
    ["a repository by file URL", true, (made: TempRepository) => made.url],
  ])("reads %s without a cache and without touching it", async (_, bare, url) => {
    const made = await repository(bare);
    const sha = await made.commit({
      files: { "a.hcl": job("a") },
      message: "Say\u001b[31m hello\n\nmore",
      author: { name: "Ann Ä", email: "ann@example.com" },
    });
    const before = await readdir(made.gitdir, { recursive: true });
    const { snapshot, fetch, dataDir } = open({ url: url(made) });
    const first = await snapshot();
    expect(first.snapshot.commit).toEqual({
      sha,
      subject: "Say [31m hello",
      author: "Ann Ä",
      authorEmail: "ann@example.com",
      committedAt: "2026-01-01T00:00:00.000Z",
    });
    expect(first.snapshot.files.map(({ jobName }) => jobName)).toEqual(["a"]);
    expect(first.historyRewritten).toBe(false);
    expect(await fetch(sha)).toEqual({ changed: false, sha });
    expect(existsSync(join(dataDir, "git"))).toBe(false);
    expect(await readdir(made.gitdir, { recursive: true })).toEqual(before);
    const second = await made.commit({ files: { "b.hcl": job("b") } });
    const after = await snapshot(sha);
    expect(after.snapshot.commit.sha).toBe(second);
    expect(after.snapshot.files[0]).toBe(first.snapshot.files[0]);
  });

  it("reads a linked work tree and packed refs", async () => {
    const made = await repository(false);
    const sha = await made.commit({ files: { "a.hcl": job("a") } });
    const tree = folder();
    await mkdir(join(made.gitdir, "worktrees", "x"), { recursive: true });
    await writeFile(join(made.gitdir, "worktrees", "x", "commondir"), "../..\n");
    await writeFile(join(tree, ".git"), `gitdir: ${join(made.gitdir, "worktrees", "x")}\n`);
    await rm(join(made.gitdir, "refs/heads/main"));
    await writeFile(join(made.gitdir, "packed-refs"), `# pack-refs with: peeled fully-peeled sorted \n${sha} refs/heads/main\n`);
    expect((await open({ url: tree }).snapshot()).snapshot.commit.sha).toBe(sha);
  });

  it("reads over http with the token of a file, and again when the file changes", async () => {
    const made = await repository();
    await made.commit({ files: { "jobs/a.hcl": job("a") } });
    const server = await made.serveHttp({ token: "canary-right" });
    const tokenFile = join(folder(), "token");
    await writeFile(tokenFile, "canary-wrong\n");
    const { fetch, snapshot, log, dataDir } = open({ url: server.url, path: "jobs", tokenFile });
    const failure = await fetch().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "git_not_permitted", message: expect.stringContaining(server.url) });
    await writeFile(tokenFile, "canary-right\n");
    const { snapshot: read } = await snapshot();
    expect(read.files.map(({ path }) => path)).toEqual(["jobs/a.hcl"]);
    expect(await fetch(read.commit.sha)).toEqual({ changed: false, sha: read.commit.sha });
    expect(await readdir(join(dataDir, "git"))).toEqual(["main"]);
    expect(JSON.stringify([failure, log])).not.toContain("canary");
  });

  it("never shows the user part of a URL (S04)", async () => {
    const made = await repository();
    await made.commit({ files: { "a.hcl": job("a") } });
    const server = await made.serveHttp({ token: "right" });
    const { fetch, log } = open({ url: server.url.replace("http://", "http://canary-user:canary-pw@") });
    const failure = await fetch().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "git_not_permitted" });
    expect(log[0]).toContain("holds a password");
    expect(JSON.stringify([failure, String(failure), log])).not.toContain("canary");
  });

  it("keeps what it knows when a later fetch fails, and goes on afterwards (S48)", async () => {
    const made = await repository();
    const sha = await made.commit({ files: { "jobs/a.hcl": job("a"), "jobs/b.hcl": job("b") } });
    const server = await made.serveHttp();
    const { fetch, snapshot } = open({ url: server.url, path: "jobs" });
    const first = await snapshot();
    await made.commit({ files: { "jobs/a.hcl": null, "jobs/b.hcl": null, other: "x" } });
    await expect(fetch(sha)).rejects.toMatchObject({
      code: "git_path_missing",
      message: 'the configured path "jobs" does not exist in the commit',
    });
    await made.commit({ files: { "jobs/a.hcl": job("a"), "jobs/b.hcl": job("b2") } });
    server.fault = { endAfter: 40 };
    await expect(fetch(sha)).rejects.toMatchObject({ code: "git_unreachable" });
    server.fault = undefined;
    const later = await snapshot(sha);
    expect(later.snapshot.files.map((file) => first.snapshot.files.includes(file))).toEqual([true, false]);
  });

  it("clones again when the cache was damaged on disk", async () => {
    const made = await repository();
    const sha = await made.commit({ files: { "a.hcl": job("a") } });
    const server = await made.serveHttp();
    const { snapshot, dataDir } = open({ url: server.url });
    await snapshot();
    const packs = join(dataDir, "git/main/objects/pack");
    for (const name of await readdir(packs)) if (name.endsWith(".pack")) await writeFile(join(packs, name), "rubbish");
    await made.commit({ files: { "b.hcl": job("b") } });
    expect((await snapshot(sha)).snapshot.files).toHaveLength(2);
  });

  it("tells a rewritten history (S45)", async () => {
    const made = await repository();
    const first = await made.commit({ files: { "a.hcl": job("a") } });
    const old = await made.commit({ files: { "a.hcl": job("b") } });
    const { snapshot } = open({ url: made.dir });
    await snapshot();
    await made.commit({ files: { "a.hcl": job("c") }, parents: [first] });
    expect((await snapshot(old)).historyRewritten).toBe(true);
    expect((await snapshot(first)).historyRewritten).toBe(false);
  });

  it("reads repositories apart from each other", async () => {
    const [one, two] = [await repository(), await repository()];
    await one.commit({ files: { "a.hcl": job("one") } });
    await two.commit({ files: { "a.hcl": job("two") } });
    const server = await two.serveHttp();
    server.fault = { silent: true };
    const repositories = [
      { name: "one", branch: "main", url: one.dir },
      { name: "two", branch: "main", url: server.url },
    ];
    const { source } = open({ url: "x" }, { repositories });
    const abort = new AbortController();
    const waiting = source.fetch("two", undefined, abort);
    expect(await source.fetch("one", undefined, abort)).toMatchObject({ snapshot: { repository: "one" } });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: "git_aborted" });
    await expect(source.fetch("three", undefined, abort)).rejects.toMatchObject({ code: "unknown_repository" });
  });

  it("gives up a fetch that takes too long, even when each part is quick (S43)", async () => {
    const made = await repository();
    await made.commit({ files: { "a.hcl": job("a") } });
    const server = await made.serveHttp();
    server.fault = { silent: true };
    const { fetch, clock } = open({ url: server.url }, { limits: { totalMs: 1_000 } });
    const waiting = fetch();
    const late = expect(waiting).rejects.toMatchObject({
      code: "git_timeout",
      message: `reading ${server.url} took longer than 1 s`,
    });
    await clock.advance(1_000);
    await late;
    server.fault = undefined;
    expect((await fetch()).changed).toBe(true);
  });

  it("goes on from the last good commit after a restart while the server is away, and says so (design D36)", async () => {
    const made = await repository();
    const first = await made.commit({ files: { "a.hcl": job("a") } });
    const server = await made.serveHttp();
    const dataDir = folder();
    const before = open({ url: server.url }, { dataDir });
    expect((await before.snapshot()).problem).toBeUndefined();
    // The connection breaks in the middle of a later fetch, when the ref has moved already.
    const second = await made.commit({ files: { "b.hcl": job("b"), noise: randomBytes(3_000).toString("hex") } });
    server.fault = { endAfter: 500 };
    await expect(before.fetch(first)).rejects.toMatchObject({ code: "git_unreachable" });
    await before.source.close();
    server.fault = { status: 503 };
    const { snapshot, fetch, log } = open({ url: server.url }, { dataDir });
    const held = await snapshot();
    expect(held.snapshot.commit.sha).toBe(first);
    expect(held.snapshot.files.map(({ path }) => path)).toEqual(["a.hcl"]);
    expect(held.problem).toMatchObject({ name: "GitError", message: expect.stringContaining("503") });
    expect(log[0]).toContain("the commit that was fetched last is used until it can");
    await expect(fetch(first)).rejects.toMatchObject({ name: "GitError" });
    server.fault = undefined;
    expect((await snapshot(first)).snapshot.commit.sha).toBe(second);
  });

  it("reads a commit only if it is signed, stays at the last that was, also over a restart, and goes on with the next (S46)", async () => {
    const made = await repository();
    const signer = createCommitSigner("ann@example.com");
    const signed = async (files: TempCommit["files"] = {}) => {
      const raw = await made.readCommit(await made.commit({ files }));
      const sha = await made.writeObject("commit", signer.sign(raw));
      await made.moveBranch("main", sha);
      return sha;
    };
    const allowedSignersFile = join(folder(), "signers");
    await writeFile(allowedSignersFile, signer.allowed);
    const server = await made.serveHttp();
    const options = { dataDir: folder() };
    const before = open({ url: server.url, allowedSignersFile }, options);
    const first = await signed({ "a.hcl": job("a") });
    expect((await before.snapshot()).snapshot.commit.sha).toBe(first);
    const bad = await made.commit({ files: { "a.hcl": job("evil") } });
    const refusal = { code: "git_untrusted", message: `commit ${bad.slice(0, 8)} is not deployed: it is not signed` };
    await expect(before.fetch(first)).rejects.toMatchObject(refusal);
    await expect(before.fetch(first)).rejects.toMatchObject(refusal);
    await before.source.close();
    const { snapshot } = open({ url: server.url, allowedSignersFile }, options);
    const held = await snapshot();
    expect(held.snapshot.commit.sha).toBe(first);
    expect(held.problem).toMatchObject(refusal);
    const later = await signed({ "a.hcl": job("b") });
    expect((await snapshot(first)).snapshot.commit.sha).toBe(later);
    const other = createCommitSigner("bob@example.com");
    await writeFile(allowedSignersFile, other.allowed);
    await expect(open({ url: made.dir, allowedSignersFile }).fetch()).rejects.toMatchObject({
      code: "git_untrusted",
      message: expect.stringContaining("a key that is not allowed"),
    });
    await expect(open({ url: made.dir, allowedSignersFile: "/none" }).fetch()).rejects.toMatchObject({
      code: "git_configuration",
    });
  });

  it("fails reads under way when it is closed", async () => {
    const made = await repository();
    const server = await made.serveHttp();
    server.fault = { silent: true };
    const { fetch, source } = open({ url: server.url });
    const waiting = expect(fetch()).rejects.toMatchObject({ code: "git_aborted" });
    await source.close();
    await waiting;
    await expect(fetch()).rejects.toMatchObject({ code: "git_aborted" });
  });

  it.each([
    ["no repository", async () => folder(), "git_not_found", "is not a git repository"],
    ["nothing", async () => join(folder(), "none"), "git_not_found", "does not exist or cannot be read"],
    [
      "a repository of other objects",
      async () => foreign("config", "[extensions]\n\tobjectFormat = sha256\n"),
      "git_unsupported",
      "uses sha256",
    ],
    [
      "a repository that borrows objects",
      async () => foreign("objects/info/alternates", "/x\n"),
      "git_unsupported",
      "borrows objects",
    ],
    ["an empty repository", async () => (await repository()).dir, "git_branch_missing", 'has no branch "main"'],
  ])("says precisely that there is %s", async (_, url, code, message) => {
    await expect(open({ url: await url() }).fetch()).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  async function foreign(file: string, text: string): Promise<string> {
    const made = await repository();
    await made.commit({ files: { a: "b" } });
    await mkdir(join(made.dir, "objects/info"), { recursive: true });
    await writeFile(join(made.dir, file), text);
    return made.dir;
  }

  it("does not follow a symlink of the repository out of it (S41)", async () => {
    const made = await repository(false);
    await made.commit({ files: { "jobs/a.hcl": { mode: "120000", content: "/etc/hosts" }, "b.hcl": job("b") } });
    await mkdir(join(made.dir, "jobs"), { recursive: true });
    await symlink("/etc/hosts", join(made.dir, "jobs", "a.hcl"));
    const { snapshot } = await open({ url: made.dir }).snapshot();
    expect(snapshot.files.map(({ path }) => path)).toEqual(["b.hcl"]);
    expect(snapshot.warnings).toEqual([
      { severity: "warn", file: "jobs/a.hcl", message: "passed over: it is a symlink, and nops follows none" },
    ]);
  });

  it.each([
    [{ url: "ext::sh -c id" }, "run a program"],
    [{ url: "ssh://git@host/a" }, "ssh needs ssh_key_file"],
    [{ url: "git@host:a", sshKeyFile: "/k" }, "ssh needs known_hosts_file"],
    [{ url: "/a", path: "../x" }, "leads out of the repository"],
    [{ url: "/a", branch: "-x" }, "cannot be the name of a branch"],
    [{ url: "/a", branch: "a..b" }, "cannot be the name of a branch"],
    [{ url: "/a", files: ["{a"] }, "a { is never closed"],
    [{ url: "/a", ignore: [""] }, "it is empty"],
  ])("refuses the configuration %j at once, naming the repository", (config, message) => {
    expect(() => open(config)).toThrow(`repository "main": `);
    expect(() => open(config)).toThrow(message);
  });

  it("warns of a token that goes over the network in clear", () => {
    expect(open({ url: "http://git.example.com/a", tokenFile: "/t" }).log[0]).toContain("unencrypted");
    expect(open({ url: "http://127.0.0.1/a", tokenFile: "/t" }).log).toEqual([]);
  });

  it("takes NOMAD_VAR_* only where it may", async () => {
    const made = await repository();
    await made.commit({ files: { "a.hcl": `variable "tag" {}\n${job("a")}` } });
    const environment = { NOMAD_VAR_tag: "v1", NOMAD_TOKEN: "canary" };
    const allowed = await open({ url: made.dir, environmentVariables: true }, { environment }).snapshot();
    expect(allowed.snapshot.files[0]?.variables).toBe('tag = "v1"\n');
    const refused = await open({ url: made.dir }, { environment }).snapshot();
    expect(refused.snapshot.files).toEqual([]);
    expect(refused.snapshot.broken[0]?.message).toContain('variable "tag" has no default');
  });
});
