import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createTempRepository } from "../testkit/temp-git.ts";
import { createHttpTransport } from "./http-transport.ts";
import { type GitLimits, gitLimits } from "./limits.ts";
import { isHistoryRewritten } from "./objects.ts";
import { RemoteCache } from "./remote-cache.ts";
import { TreeReader } from "./tree.ts";

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Bytes that do not shrink when they are packed. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let at = 0; at < length; at++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[at] = state >> 16;
  }
  return bytes;
}

async function setUp(limits: Partial<GitLimits> = {}) {
  const repository = await createTempRepository({ bare: true });
  cleanUps.push(repository.remove);
  const first = await repository.commit({ files: { "jobs/a.hcl": "one", "jobs/big": noise(100_000) } });
  const server = await repository.serveHttp();
  const data = await mkdtemp(join(tmpdir(), "nops-cache-"));
  cleanUps.push(() => rm(data, { recursive: true, force: true }));
  const gitdir = join(data, "git", "main");
  const bounds = { ...gitLimits, ...limits };
  const open = () => new RemoteCache({ gitdir, where: "the repository", branch: "main", limits: bounds });
  const cache = open();
  async function update(target = cache): Promise<string> {
    const signal = new AbortController().signal;
    const transport = createHttpTransport({
      url: server.url,
      username: "git",
      token: undefined,
      certificateAuthority: undefined,
      limits: bounds,
      signal,
    });
    try {
      const head = await target.update(transport, await target.remoteHead(transport));
      await target.tidy(transport);
      return head;
    } finally {
      transport.close();
    }
  }
  async function content(path: string, target = cache): Promise<string> {
    const head = await update(target);
    const store = target.store();
    const entry = await new TreeReader(store, (await store.commit(head)).tree, bounds).find(path);
    return (await store.read(entry?.oid ?? "", "blob")).toString();
  }
  const packs = async () => (await readdir(join(gitdir, "objects/pack"))).filter((name) => name.endsWith(".pack"));
  return { repository, first, server, gitdir, data, cache, open, update, content, packs };
}

/** Bytes of the answers with a pack. */
function sent(server: Awaited<ReturnType<typeof setUp>>["server"]): readonly number[] {
  return server.requests.filter(({ method, sent }) => method === "POST" && sent > 300).map(({ sent }) => sent);
}

describe("RemoteCache", () => {
  it("clones shallow, then fetches only what is new (traps 2 and 3)", async () => {
    const { repository, server, update, content, first, packs } = await setUp();
    for (let at = 0; at < 5; at++) await repository.commit({ files: { "jobs/other": `x${at}`.repeat(20_000) } });
    const head = await repository.commit({ files: { "jobs/a.hcl": "two" } });
    expect(await update()).toBe(head);
    const before = server.requests.length;
    expect(await content("jobs/a.hcl")).toBe("two");
    expect(server.requests.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /jobs.git/info/refs?service=git-upload-pack",
      "POST /jobs.git/git-upload-pack",
    ]);
    await repository.commit({ files: { "jobs/a.hcl": "three" } });
    expect(await content("jobs/a.hcl")).toBe("three");
    expect(sent(server)).toHaveLength(2);
    expect(sent(server)[1]).toBeLessThan(1_500);
    expect(await packs()).toHaveLength(2);
    expect(first).not.toBe(head);
  });

  it("goes on from the cache after a restart, and stores no address", async () => {
    const { server, update, open, gitdir, first } = await setUp();
    await update();
    const before = sent(server).length;
    expect(await update(open())).toBe(first);
    expect(sent(server)).toHaveLength(before);
    expect(await readFile(join(gitdir, "config"), "utf8")).not.toContain("127.0.0.1");
  });

  it("prefers the branch to a tag of the same name", async () => {
    const { repository, update, gitdir } = await setUp();
    const old = await repository.head();
    const head = await repository.commit({ files: { "jobs/a.hcl": "two" } });
    const { mkdir } = await import("node:fs/promises");
    await mkdir(join(repository.gitdir, "refs/tags"), { recursive: true });
    await writeFile(join(repository.gitdir, "refs/tags/main"), `${old}\n`);
    expect(await update()).toBe(head);
    expect(gitdir).toContain("main");
  });

  it.each([
    ["cut cleanly", { endAfter: 500 }, "unreachable"],
    ["reset", { resetAfter: 500 }, "unreachable"],
    ["stalled", { stallAfter: 500 }, "timeout"],
    ["too short", { pack: (pack: Buffer) => pack.subarray(0, -30) }, "damaged"],
    ["flipped", { pack: (pack: Buffer) => Buffer.from(pack.map((byte, at) => (at === 40 ? byte ^ 1 : byte))) }, "damaged"],
    ["empty", { pack: () => Buffer.alloc(0) }, "damaged"],
    ["no pack at all", { pack: () => Buffer.from("rubbish".repeat(10)) }, "damaged"],
  ])("survives a clone and a fetch whose pack is %s (trap 4)", async (_, fault, kind) => {
    const { repository, server, update, content, data } = await setUp("stallAfter" in fault ? { idleMs: 1_000 } : {});
    server.fault = fault;
    await expect(update()).rejects.toMatchObject({ name: "GitError", kind });
    server.fault = undefined;
    expect(await content("jobs/a.hcl")).toBe("one");
    await repository.commit({
      files: { "jobs/a.hcl": "two", more: noise(3_000) },
    });
    server.fault = fault;
    await expect(update()).rejects.toMatchObject({ name: "GitError", kind });
    server.fault = undefined;
    expect(await content("jobs/a.hcl")).toBe("two");
    expect(await readdir(join(data, "git"))).toEqual(["main"]);
  });

  it("refuses a pack with an object beyond the limit before it is unpacked (S43)", async () => {
    const { update, data } = await setUp({ objectBytes: 50_000 });
    await expect(update()).rejects.toMatchObject({ kind: "too_large", message: expect.stringContaining("an object of 98 KiB") });
    expect(await readdir(join(data, "git", ".new-main", "objects", "pack")).catch(() => [])).toEqual([]);
  });

  it("repairs a cache whose last fetch was killed before the pack was there", async () => {
    const { repository, update, content, gitdir, open } = await setUp();
    await update();
    const head = await repository.commit({ files: { "jobs/a.hcl": "two" } });
    await writeFile(join(gitdir, "refs/remotes/origin/main"), `${head}\n`);
    expect(await content("jobs/a.hcl", open())).toBe("two");
  });

  it("does not take the cache of another repository for its own", async () => {
    const { repository, update, gitdir, content, open } = await setUp();
    await update();
    await writeFile(join(gitdir, "nops-source"), "other");
    await repository.commit({ files: { "jobs/a.hcl": "two" } });
    expect(await content("jobs/a.hcl", open())).toBe("two");
  });

  it("clones anew when there are too many packs (trap 6)", async () => {
    const { repository, content, packs } = await setUp({ packs: 3 });
    for (let at = 0; at < 6; at++) {
      await repository.commit({ files: { "jobs/a.hcl": `v${at}` } });
      expect(await content("jobs/a.hcl")).toBe(`v${at}`);
      expect((await packs()).length).toBeLessThanOrEqual(3);
    }
  });

  it("clones shallow instead of fetching a long history", async () => {
    const { repository, server, content, packs } = await setUp({ laterPackBytes: 5_000 });
    for (let at = 0; at < 20; at++) await repository.commit({ files: { noise: noise(20_000 + at) } });
    const side = await repository.commit({
      files: { "jobs/side.hcl": "side" },
      branch: "side",
      parents: [await repository.head()],
    });
    await repository.commit({ files: { noise: null } });
    await content("jobs/a.hcl");
    await repository.commit({ files: { "jobs/a.hcl": "merged" }, parents: [await repository.head(), side] });
    expect(await content("jobs/a.hcl")).toBe("merged");
    const [clone, fetch, again] = sent(server);
    expect(fetch).toBeGreaterThan(2 * (clone ?? 0));
    expect(again).toBeLessThan(1.1 * (clone ?? 0));
    expect(await packs()).toHaveLength(1);
  });

  it("follows a forced push and proves it when the history is whole (S45)", async () => {
    const { repository, first, update, cache } = await setUp();
    await update();
    const old = await repository.commit({ files: { "jobs/a.hcl": "two" } });
    await update();
    const forced = await repository.commit({ files: { "jobs/a.hcl": "forced" }, parents: [first] });
    expect(await update()).toBe(forced);
    expect(await isHistoryRewritten(cache.store(), first, forced)).toBe(false);
    expect(await isHistoryRewritten(cache.store(), old, forced)).toBe(true);
  });

  it("proves a forced push even when the history is cut behind the place where it parts (S45)", async () => {
    const { repository, update, cache, first } = await setUp();
    const base = await repository.commit({ files: { "jobs/a.hcl": "base" } });
    await update();
    const old = await repository.commit({ files: { "jobs/a.hcl": "two" } });
    await update();
    const forced = await repository.commit({ files: { "jobs/a.hcl": "forced" }, parents: [base] });
    await update();
    expect(await cache.store().hasCommit(first)).toBe(false);
    expect(await isHistoryRewritten(cache.store(), old, forced)).toBe(true);
    expect(await isHistoryRewritten(cache.store(), old, base)).toBe(true);
    expect(await isHistoryRewritten(cache.store(), base, forced)).toBe(false);
    expect(await isHistoryRewritten(cache.store(), first, forced)).toBe(false);
  });

  it("says nothing about a history it has not", async () => {
    const { repository, update, cache } = await setUp();
    const head = await repository.commit({ files: { "jobs/a.hcl": "two" } });
    await update();
    expect(await isHistoryRewritten(cache.store(), "1".repeat(40), head)).toBe(false);
  });

  it("names the branches there are when the branch is gone (S45)", async () => {
    const { repository, update, first } = await setUp();
    await repository.moveBranch("next", first);
    await repository.moveBranch("main", undefined);
    await expect(update()).rejects.toMatchObject({
      kind: "branch_missing",
      message: 'the repository has no branch "main"',
      hint: "its branches are: next",
    });
    await repository.moveBranch("next", undefined);
    await expect(update()).rejects.toMatchObject({ hint: "the repository has no branch yet: push a commit" });
  });
});

it.runIf(process.platform === "linux")("ends with an error where no folder can be made", async () => {
  const { update } = await setUp();
  const cache = new RemoteCache({ gitdir: "/proc/nowhere/git/main", where: "it", branch: "main", limits: gitLimits });
  await expect(update(cache)).rejects.toThrow(/ENOENT|EACCES|EPERM/);
});
