import { chmodSync, closeSync, openSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { getTableColumns, getTableName, isTable } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { aMove, aNewDeployment, aPerson } from "../testkit/builders.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { openStore } from "./open.ts";
import * as schema from "./schema.ts";

const world = () => ({ clock: new FakeClock(), random: new SeededRandom() });
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("openStore on disk", () => {
  it("makes folder 0700 and files 0600, whatever the umask", async () => {
    const path = join(tempFolder(), "deep", "data", "nops.db");
    const store = openStore({ path, ...world() });
    await store.create(aNewDeployment());
    expect(modeOf(join(path, ".."))).toBe("700");
    for (const suffix of ["", "-wal", "-shm"]) expect(modeOf(path + suffix)).toBe("600");
    await store.close();
  });

  it("writes with full synchronisation after every open, also after the first write", async () => {
    const path = join(tempFolder(), "nops.db");
    for (let start = 1; start <= 3; start++) {
      const store = openStore({ path, ...world() });
      const good = { journalMode: "wal", synchronous: 2, foreignKeys: 1 };
      expect(await store.health()).toMatchObject(good);
      await store.pauseAll(aPerson(), "");
      await store.resumeAll(aPerson());
      expect(await store.health()).toMatchObject(good);
      expect(store.epoch()).toBe(start);
      await store.close();
    }
  });

  it("leaves one file when it closes, and closing twice does nothing", async () => {
    const path = join(tempFolder(), "nops.db");
    const store = openStore({ path, ...world() });
    const created = await store.create(aNewDeployment());
    await store.close();
    await store.close();
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
    const again = openStore({ path, ...world() });
    expect(await again.deployment(created.id)).toEqual(created);
    await again.close();
  });

  it("can be read by another program while it runs", async () => {
    const path = join(tempFolder(), "nops.db");
    const store = openStore({ path, ...world() });
    const created = await store.create(aNewDeployment());
    const other = new Database(path, { readonly: true });
    const read = () => other.prepare("SELECT state, created_at FROM deployments WHERE id = ?").get(created.id);
    expect(read()).toEqual({ state: "detected", created_at: created.createdAt });
    await store.move(created.id, 1, aMove());
    expect(read()).toMatchObject({ state: "applying" });
    other.close();
    await store.close();
  });

  it("S07: refuses a folder or file that others can use, and says how to mend it", () => {
    const folder = tempFolder();
    const path = join(folder, "nops.db");
    chmodSync(folder, 0o750);
    expect(() => openStore({ path, ...world() })).toThrow(
      expect.objectContaining({ code: "data_dir_exposed", hint: `chmod 700 ${folder}` }),
    );
    chmodSync(folder, 0o700);
    writeFileSync(path, "", { mode: 0o644 });
    expect(() => openStore({ path, ...world() })).toThrow(
      expect.objectContaining({ code: "data_dir_exposed", hint: `chmod 600 ${path}` }),
    );
  });

  it("says that the folder cannot be written", () => {
    const file = join(tempFolder(), "file");
    closeSync(openSync(file, "w"));
    const path = join(file, "data", "nops.db");
    expect(() => openStore({ path, ...world() })).toThrow(expect.objectContaining({ code: "data_dir_unwritable" }));
  });

  it("refuses what is no database, a damaged one, and one of another program", async () => {
    const folder = tempFolder();
    const text = join(folder, "text.db");
    writeFileSync(text, "just a text, long enough to be taken for a header of a file\n".repeat(20), { mode: 0o600 });
    expect(() => openStore({ path: text, ...world() })).toThrow(
      expect.objectContaining({ name: "StoreBrokenError", code: "store_broken" }),
    );

    const foreign = join(folder, "foreign.db");
    const other = new Database(foreign);
    other.exec("CREATE TABLE theirs (x)");
    other.close();
    chmodSync(foreign, 0o600);
    expect(() => openStore({ path: foreign, ...world() })).toThrow(expect.objectContaining({ code: "not_a_nops_database" }));

    const cut = join(folder, "nops.db");
    const store = openStore({ path: cut, ...world() });
    await store.create(aNewDeployment());
    await store.close();
    truncateSync(cut, Math.floor(statSync(cut).size / 2));
    expect(() => openStore({ path: cut, ...world() })).toThrow(expect.objectContaining({ name: "StoreBrokenError" }));
  });

  it("waits for nobody longer than a quarter of a second, and says that it is busy", async () => {
    const path = join(tempFolder(), "nops.db");
    const store = openStore({ path, ...world() });
    const other = new Database(path);
    other.exec("BEGIN IMMEDIATE");
    const begun = performance.now();
    await expect(store.create(aNewDeployment())).rejects.toMatchObject({ name: "RetryAfterError", code: "database_busy" });
    expect(performance.now() - begun).toBeLessThan(1500);
    other.exec("COMMIT");
    other.close();
    await store.create(aNewDeployment());
    await store.close();
  });
});

describe("fail-stop", () => {
  it.each(["SQLITE_IOERR_FSYNC", "SQLITE_FULL", "SQLITE_CORRUPT"])("refuses everything after %s", async (code) => {
    let broken = false;
    const trace = (): void => {
      if (broken) throw new Database.SqliteError("made to fail", code);
    };
    const store = memoryStore({ trace });
    const created = await store.create(aNewDeployment());
    broken = true;
    const fatal = { name: "StoreBrokenError", code: "store_broken" };
    await expect(store.move(created.id, 1, aMove())).rejects.toMatchObject(fatal);
    broken = false;
    await expect(store.move(created.id, 1, aMove())).rejects.toMatchObject(fatal);
    await expect(store.jobFacts("default/web" as never)).rejects.toMatchObject(fatal);
    await expect(store.deployment(created.id)).rejects.toMatchObject(fatal);
    expect((await store.health()).broken).toMatchObject(fatal);
  });

  it.each(["", "-wal"])("refuses everything once nops.db%s is no longer the file that was opened", async (suffix) => {
    for (const replace of [false, true]) {
      const path = join(tempFolder(), "nops.db");
      const store = openStore({ path, ...world() });
      const created = await store.create(aNewDeployment());
      rmSync(path + suffix);
      if (replace) writeFileSync(path + suffix, "another");
      const fatal = { name: "StoreBrokenError", code: "store_replaced" };
      await expect(store.move(created.id, 1, aMove())).rejects.toMatchObject(fatal);
      await expect(store.probe()).rejects.toMatchObject(fatal);
      expect((await store.health()).broken).toMatchObject(fatal);
    }
  });
});

describe("a second process beside the operator (D35)", () => {
  it("reads and writes tokens, and changes nothing else", async () => {
    const path = join(tempFolder(), "nops.db");
    const engine = openStore({ path, ...world() });
    const created = await engine.create(aNewDeployment());
    const admin = openStore({ path, ...world(), random: new SeededRandom(2), role: "admin" });
    const { secret } = await admin.createToken({ name: "ci", actor: aPerson() });
    expect(await engine.findToken(secret)).toMatchObject({ name: "ci" });
    expect(await admin.deployment(created.id)).toEqual(created);
    for (const forbidden of [
      admin.move(created.id, 1, aMove()),
      admin.create(aNewDeployment({ jobId: "x" })),
      admin.pauseAll(aPerson(), ""),
    ]) {
      await expect(forbidden).rejects.toMatchObject({ code: "not_engine" });
    }
    await admin.close();
    await engine.move(created.id, 1, aMove());
    expect(await engine.verifyAudit()).toMatchObject({ ok: true, events: 3 });
    await engine.close();
  });

  it("makes the database when it comes first", async () => {
    const path = join(tempFolder(), "data", "nops.db");
    const admin = openStore({ path, ...world(), role: "admin" });
    const { secret } = await admin.createToken({ name: "first", actor: aPerson() });
    await admin.close();
    const engine = openStore({ path, ...world() });
    expect(await engine.findToken(secret)).toBeDefined();
    expect(await engine.restored()).toBeUndefined();
    await engine.close();
  });

  it("fences off the operator that lost the database to a later one", async () => {
    const path = join(tempFolder(), "nops.db");
    const former = openStore({ path, ...world() });
    const created = await former.create(aNewDeployment());
    const latter = openStore({ path, ...world(), random: new SeededRandom(3) });
    const fenced = { name: "StoreBrokenError", code: "fenced" };
    await expect(former.move(created.id, 1, aMove())).rejects.toMatchObject(fenced);
    await expect(former.deployment(created.id)).rejects.toMatchObject(fenced);
    expect(await latter.move(created.id, 1, aMove())).toMatchObject({ version: 2 });
    await latter.close();
    await former.close();
  });
});

describe("the schema in code", () => {
  it("has the columns that the migrations make, with the same types and nullability", async () => {
    const database = new Database(Buffer.from(memoryStore().serialize()));
    const tables = Object.values(schema).filter((value) => isTable(value));
    expect(tables.length).toBeGreaterThan(15);
    for (const table of tables) {
      const name = getTableName(table);
      const inCode = Object.values(getTableColumns(table)).map((column) => [
        column.name,
        column.getSQLType().toUpperCase(),
        column.notNull,
      ]);
      const rows = database
        .prepare<[string], { name: string; type: string; notnull: number; pk: number }>("SELECT * FROM pragma_table_info(?)")
        .all(name);
      const onDisk = rows.map((row) => [row.name, row.type, row.notnull === 1 || row.pk > 0]);
      expect(inCode.sort(), name).toEqual(onDisk.sort());
    }
  });
});
