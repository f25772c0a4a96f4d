import { execFile } from "node:child_process";
import * as fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import git from "isomorphic-git";
import http from "isomorphic-git/http/node";
import { afterEach, describe, expect, it } from "vitest";
import { createTempRepository, type TempRepository } from "./temp-git.ts";

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function repository(bare = false): Promise<TempRepository> {
  const made = await createTempRepository({ bare });
  cleanUps.push(made.remove);
  return made;
}

async function scratch(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "nops-clone-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

describe("createTempRepository", () => {
  it("makes commits that isomorphic-git reads", async () => {
    const made = await repository();
    const first = await made.commit({ files: { "a/b.txt": "one", "c.txt": "two" }, message: "First" });
    const second = await made.commit({
      files: { "a/b.txt": "three", "c.txt": null },
      author: { name: "Ann", email: "ann@example.com" },
    });
    const log = await git.log({ fs, dir: made.dir, ref: "main" });
    expect(log.map(({ oid }) => oid)).toEqual([second, first]);
    expect(log.map(({ commit }) => [commit.message, commit.author.name])).toEqual([
      ["Change files\n", "Ann"],
      ["First\n", "Test Author"],
    ]);
    expect(await git.listFiles({ fs, dir: made.dir, ref: second })).toEqual(["a/b.txt"]);
    expect(fs.readFileSync(join(made.dir, "a/b.txt"), "utf8")).toBe("three");
  });

  it.each([1, undefined])("serves clones of depth %s", async (depth) => {
    const made = await repository(true);
    await made.commit({ files: { "a/b.txt": "one", big: "x".repeat(200_000) } });
    const head = await made.commit({ files: { "a/c.txt": "two" } });
    const server = await made.serveHttp({ token: "right" });
    const dir = await scratch();
    const onAuth = () => ({ username: "git", password: "right" });
    await git.clone({
      fs,
      http,
      dir,
      url: server.url,
      ref: "main",
      singleBranch: true,
      onAuth,
      ...(depth === undefined ? {} : { depth }),
    });
    expect(await git.resolveRef({ fs, dir, ref: "HEAD" })).toBe(head);
    expect((await git.log({ fs, dir })).length).toBe(depth ?? 2);
    expect(fs.readFileSync(join(dir, "a/c.txt"), "utf8")).toBe("two");
  });

  it("refuses a wrong token", async () => {
    const made = await repository(true);
    await made.commit({ files: { a: "b" } });
    const server = await made.serveHttp({ token: "right" });
    await expect(git.listServerRefs({ http, url: server.url })).rejects.toThrow("401");
  });

  it("sends only what a later fetch lacks", async () => {
    const made = await repository(true);
    await made.commit({ files: { big: "y".repeat(300_000), a: "1" } });
    const server = await made.serveHttp();
    const dir = await scratch();
    await git.clone({ fs, http, dir, url: server.url, ref: "main", singleBranch: true, noCheckout: true, depth: 1 });
    await made.commit({ files: { a: "2" } });
    await git.fetch({
      fs,
      http,
      dir,
      url: server.url,
      ref: "refs/remotes/origin/main",
      remoteRef: "main",
      singleBranch: true,
      tags: false,
    });
    expect(server.requests.at(-1)?.sent).toBeLessThan(1_000);
  });
});

describe("the git program, where there is one", () => {
  it("finds nothing wrong with a repository and clones it", async () => {
    const run = promisify(execFile);
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
    };
    const found = await run("git", ["--version"], { env }).then(
      () => true,
      () => false,
    );
    if (!found) return;
    const made = await repository(true);
    await made.commit({ files: { "a-b": "0", "a/b.txt": "one", "a.c": "2", link: { mode: "120000", content: "a-b" } } });
    await made.commit({ files: { "a/d/e": "3" } });
    await run("git", ["-C", made.dir, "fsck", "--strict"], { env });
    const server = await made.serveHttp();
    const dir = await scratch();
    await run("git", ["-c", "protocol.version=0", "clone", "-q", "--depth", "1", server.url, join(dir, "shallow")], { env });
    await run("git", ["-c", "protocol.version=0", "clone", "-q", server.url, join(dir, "full")], { env });
    const { stdout } = await run("git", ["-C", join(dir, "full"), "log", "--format=%s"], { env });
    expect(stdout.trim().split("\n")).toHaveLength(2);
  });
});
