import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeploymentState, isTerminal } from "../model/lifecycle.ts";
import { bundleForNode } from "../testkit/bundle.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { openStore, type Store } from "./open.ts";

const kills = 24;

let bundle: Awaited<ReturnType<typeof bundleForNode>>;
beforeAll(async () => {
  bundle = await bundleForNode("testkit/store-crash-child.ts");
});
afterAll(() => bundle.remove());

/** What a process was promised about a deployment last. */
type Promises = Map<string, { readonly version: number; readonly state: string }>;

/** Lets a process work until it has told of `lines` things done, kills it there, and gives all that it told. */
async function workAndDie(path: string, lines: number): Promise<Promises> {
  const child = spawn(process.execPath, [bundle.script, path], { stdio: ["ignore", "pipe", "inherit"] });
  let told = "";
  const ended = once(child, "exit");
  child.stdout.on("data", (chunk: Buffer) => {
    told += chunk.toString();
    if (told.split("\n").length > lines) child.kill("SIGKILL");
  });
  const [code, signal] = await ended;
  expect([code, signal]).toEqual([null, "SIGKILL"]);
  const promises: Promises = new Map();
  for (const line of told.split("\n").slice(0, -1)) {
    const [id = "", version = "", state = ""] = line.split(" ");
    promises.set(id, { version: Number(version), state });
  }
  return promises;
}

async function check(store: Store, promises: Promises, all: Set<string>): Promise<void> {
  expect(await store.health()).toMatchObject({ journalMode: "wal", synchronous: 2, foreignKeys: 1 });
  expect(await store.verifyAudit([store.folderMark() ?? { seq: 0, hash: "" }])).toMatchObject({ ok: true });
  expect(await store.restored()).toBeUndefined();
  for (const [id, promised] of promises) {
    const found = await store.deployment(id);
    // The one thing under way when it died may have been done too.
    expect([0, 1]).toContain((found?.version ?? Number.NaN) - promised.version);
    if (found?.version === promised.version) expect(found.state).toBe(promised.state);
    if (isTerminal(promised.state as DeploymentState)) expect(found?.version).toBe(promised.version);
    all.add(id);
  }
  const active = await store.activeDeployments();
  expect(new Set(active.map((row) => row.jobId)).size).toBe(active.length);
  for (const id of all) expect(await store.deploymentSpec(id)).toBeDefined();
}

describe("a process that is killed at any instant", () => {
  it(`loses nothing it was promised and leaves nothing half done, ${kills} times in a row`, { timeout: 400_000 }, async () => {
    const path = join(tempFolder(), "nops.db");
    const random = new SeededRandom(11);
    const all = new Set<string>();
    for (let kill = 1; kill <= kills; kill++) {
      const promises = await workAndDie(path, 1 + Math.floor(random.next() * 60));
      const store = openStore({ path, clock: new FakeClock(Date.now()), random: new SeededRandom(kill) });
      expect(store.epoch()).toBe(2 * kill);
      await check(store, promises, all);
      await store.close();
    }
    expect(all.size).toBeGreaterThan(kills);
    const database = new Database(path, { readonly: true });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.pragma("foreign_key_check")).toEqual([]);
    database.close();
  });
});
