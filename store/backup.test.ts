import { existsSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { FileLock } from "../model/lock.ts";
import { aFrozenHook, aMove, aNewDeployment, aPerson, builtAt } from "../testkit/builders.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { databasePath, lockPath, restoreBackup } from "./backup.ts";
import { openDatabase } from "./database.ts";
import { flockFileLock } from "./lock.ts";
import { migrate, newestSchema } from "./migrate.ts";
import { openStore } from "./open.ts";

const lock: FileLock = flockFileLock();

function folder() {
  const dataDir = tempFolder();
  let seed = 0;
  const world = () => ({ clock: new FakeClock(), random: new SeededRandom(++seed) });
  const path = databasePath(dataDir);
  const backup = join(dataDir, "copy.db");
  return {
    dataDir,
    path,
    backup,
    open: (role: "engine" | "admin" = "engine") => openStore({ path, role, ...world() }),
    restore: (from = backup) => restoreBackup({ from, dataDir, lock, ...world() }),
  };
}

describe("backup", () => {
  it("is a sound, private, complete copy, taken while others write", async () => {
    const { open, backup } = folder();
    const engine = open();
    const created = await engine.create(aNewDeployment({ hooks: [aFrozenHook()] }));
    const admin = open("admin");
    const report = await admin.backup(backup);
    expect(report).toEqual({
      file: backup,
      bytes: statSync(backup).size,
      schema: newestSchema(),
      head: await engine.auditHead(),
    });
    expect((statSync(backup).mode & 0o777).toString(8)).toBe("600");
    await engine.move(created.id, 1, aMove());
    const copy = new Database(backup, { readonly: true });
    expect(copy.prepare("SELECT state FROM deployments").pluck().all()).toEqual(["detected"]);
    expect(copy.prepare("SELECT count(*) FROM deployment_hooks").pluck().get()).toBe(1);
    copy.close();
    await admin.close();
    await engine.close();
  });

  it("never replaces a file, and leaves nothing behind when it fails", async () => {
    const { open, backup, dataDir } = folder();
    const store = open();
    writeFileSync(backup, "precious");
    await expect(store.backup(backup)).rejects.toMatchObject({ name: "RefusedError", code: "file_exists" });
    await expect(store.backup(join(dataDir, "no", "such", "folder.db"))).rejects.toMatchObject({ code: "backup_failed" });
    await store.close();
    expect(readdirSync(dataDir).sort()).toEqual(["copy.db", "nops.db", "nops.mark"]);
  });
});

describe("restore", () => {
  it("makes a missing data folder for nobody else's eyes", async () => {
    const { open, backup, dataDir } = folder();
    const engine = open();
    await engine.backup(backup);
    await engine.close();
    const other = join(dataDir, "new", "data");
    restoreBackup({ from: backup, dataDir: other, lock, clock: new FakeClock(), random: new SeededRandom(9) });
    expect([join(dataDir, "new"), other].map((each) => (statSync(each).mode & 0o777).toString(8))).toEqual(["700", "700"]);
  });

  it("puts the copy in place, keeps the former one, and marks it until a person accepts it", async () => {
    const { open, backup, restore } = folder();
    const before = open();
    const created = await before.create(aNewDeployment());
    await before.backup(backup);
    await before.move(created.id, 1, aMove());
    await before.close();

    const { replaced, head } = restore();
    expect(head.seq).toBe(2);
    const former = new Database(replaced ?? "", { readonly: true });
    expect(former.prepare("SELECT state FROM deployments").pluck().get()).toBe("applying");
    former.close();

    const store = open();
    expect(await store.deployment(created.id)).toMatchObject({ state: "detected" });
    expect(await store.restored()).toMatchObject({ message: "restored from a backup that ended with event 1" });
    expect(store.epoch()).toBe(2);
    expect(await store.acceptRestored(aPerson())).toBe(true);
    await store.close();
    const next = open();
    expect(await next.restored()).toBeUndefined();
    expect(await next.verifyAudit([next.folderMark() ?? head])).toMatchObject({ ok: true });
    await next.close();
  });

  it("is refused while an operator holds the folder", async () => {
    const { open, backup, restore, dataDir, path } = folder();
    const store = open();
    await store.backup(backup);
    const outcome = lock.acquire(lockPath(dataDir));
    const inode = statSync(path).ino;
    expect(() => restore()).toThrow(
      expect.objectContaining({
        name: "RefusedError",
        code: "lock_held",
        message: `nops runs on ${dataDir} (process ${process.pid})`,
      }),
    );
    expect(statSync(path).ino).toBe(inode);
    if (outcome.held) outcome.lock.release();
    await store.close();
    restore();
  });

  it("takes the place of a damaged database, and of none", async () => {
    const { open, backup, restore, path } = folder();
    const store = open();
    await store.create(aNewDeployment());
    await store.backup(backup);
    await store.close();
    truncateSync(path, 4096 * 3 + 17);
    const { replaced } = restore();
    expect(existsSync(replaced ?? "")).toBe(true);
    const again = open();
    expect((await again.listDeployments({ limit: 9 })).items).toHaveLength(1);
    await again.close();

    const empty = folder();
    expect(empty.restore(backup).replaced).toBeUndefined();
    const there = empty.open();
    expect((await there.listDeployments({ limit: 9 })).items).toHaveLength(1);
    await there.close();
  });

  it("brings an older backup forward", () => {
    const { backup, restore, path } = folder();
    const old = openDatabase({ path: backup });
    migrate(old, { path: backup, now: builtAt, upTo: 1 });
    old.pragma("journal_mode = DELETE");
    old.close();
    restore();
    const database = openDatabase({ path });
    expect(database.pragma("user_version", { simple: true })).toBe(newestSchema());
    database.close();
  });

  it("refuses what is no sound backup, and leaves the database as it was", async () => {
    const { open, backup, restore, dataDir } = folder();
    const store = open();
    const created = await store.create(aNewDeployment());
    await store.backup(backup);
    await store.close();
    expect(() => restore(join(dataDir, "missing.db"))).toThrow(
      expect.objectContaining({ name: "NotFoundError", code: "backup_not_found" }),
    );
    writeFileSync(`${backup}-wal`, "not empty");
    expect(() => restore()).toThrow(expect.objectContaining({ code: "backup_incomplete" }));
    writeFileSync(`${backup}-wal`, "");
    const newer = join(dataDir, "newer.db");
    const future = new Database(backup);
    future.exec("INSERT INTO schema_migrations VALUES (99, 'future', 'x', 'x')");
    future.prepare("VACUUM INTO ?").run(newer);
    future.close();
    expect(() => restore(newer)).toThrow(expect.objectContaining({ code: "schema_too_new" }));
    truncateSync(newer, statSync(newer).size - 5000);
    expect(() => restore(newer)).toThrow(expect.objectContaining({ name: "StoreBrokenError", code: "backup_damaged" }));
    const again = open();
    expect(await again.deployment(created.id)).toEqual(created);
    expect(await again.restored()).toBeUndefined();
    await again.close();
  });
});
