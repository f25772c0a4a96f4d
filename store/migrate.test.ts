import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { allStates } from "../model/lifecycle.ts";
import { aMove, builtAt } from "../testkit/builders.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { openDatabase } from "./database.ts";
import { migrate, newestSchema, schemaVersion } from "./migrate.ts";
import { migrations } from "./migrations/all.ts";
import { openStore } from "./open.ts";

const world = () => ({ clock: new FakeClock(), random: new SeededRandom() });

/** Rows as the first schema holds them: one deployment in each state, each with a hook and, where it has begun, a run. */
function fillFirstSchema(database: Database.Database): void {
  const deployment = database.prepare(`INSERT INTO deployments (id, namespace, job_id, repository, commit_sha, commit_subject,
    commit_author, commit_author_email, file, spec_hash, target_hash, job_spec, submission, stored_hash, policy, declared_policy, state,
    birth_state, mode, version, base_index, error, has_pre_hooks, has_post_hooks, notify_completed, reschedule, entered_at, created_at,
    updated_at) VALUES (@id, 'default', @state, 'main', 'c', 's', 'a', 'e', 'f', 'h', 't', '{}', '{}', 'x', 'auto', 'auto', @state,
    'detected', 'apply', 3, 7, @error, 1, 1, 0, 0, @at, @at, @at)`);
  const hook = database.prepare(
    "INSERT INTO deployment_hooks VALUES (?, 'pre', 0, 'migrate', 'h', 'migrate-h', 1000, 'x', '{}')",
  );
  const run =
    database.prepare(`INSERT INTO hook_runs (id, deployment_id, phase, position, hook_id, hook_job_id, idempotency_token, state,
    timeout_ms, started_at) VALUES (@id, @id, 'pre', 0, 'migrate', 'migrate-h', @id, 'running', 1000, @at)`);
  allStates.forEach((state, index) => {
    const id = `01JN8Z2V0000000000000000${String(index).padStart(2, "0")}`;
    deployment.run({ id, state, error: state === "failed" ? "why" : null, at: builtAt });
    hook.run(id);
    if (state === "pre_hook") run.run({ id, at: builtAt });
  });
  database
    .prepare("INSERT INTO job_pauses (namespace, job_id, paused_by, paused_at, reason) VALUES ('default', 'web', 'ada', ?, '')")
    .run(builtAt);
}

describe("migrate", () => {
  it("numbers its steps without gaps", () => {
    expect(migrations.map((step) => step.number)).toEqual(migrations.map((_, index) => index + 1));
  });

  it.each(migrations.slice(0, -1).map((step) => step.number))(
    "brings schema %i with rows in every state forward and loses none",
    async (from) => {
      const path = join(tempFolder(), "nops.db");
      const old = openDatabase({ path });
      migrate(old, { path, now: builtAt, upTo: from });
      expect(schemaVersion(old)).toBe(from);
      fillFirstSchema(old);
      old.close();

      const store = openStore({ path, ...world() });
      const rows = (await store.listDeployments({ limit: 99 })).items;
      expect(rows.map((row) => [row.jobId, row.state])).toEqual([...allStates].reverse().map((state) => [state, state]));
      const inHook = rows.find((row) => row.state === "pre_hook");
      expect(await store.hookRuns(inHook?.id ?? "")).toMatchObject([{ state: "running" }]);
      expect((await store.pausesInForce()).jobs).toHaveLength(1);
      expect(await store.move(inHook?.id ?? "", 3, aMove({ trigger: "step_ok" }))).toMatchObject({ state: "applying" });
      await store.close();

      const backup = `${path}.schema-${from}.backup`;
      expect((statSync(backup).mode & 0o777).toString(8)).toBe("600");
      const copy = new Database(backup, { readonly: true });
      expect(schemaVersion(copy)).toBe(from);
      expect(copy.prepare("SELECT count(*) FROM deployment_hooks").pluck().get()).toBe(allStates.length);
      copy.close();
    },
  );

  it("makes no copy of what was empty, and does nothing the second time", () => {
    const path = join(tempFolder(), "nops.db");
    const database = openDatabase({ path });
    expect(migrate(database, { path, now: builtAt })).toEqual({ from: 0, to: newestSchema(), backup: undefined });
    expect(migrate(database, { path, now: builtAt })).toEqual({ from: newestSchema(), to: newestSchema(), backup: undefined });
    expect(database.pragma("user_version", { simple: true })).toBe(newestSchema());
    expect(existsSync(`${path}.schema-0.backup`)).toBe(false);
    database.close();
  });

  it("keeps child rows when a step rebuilds their parent table", () => {
    const path = join(tempFolder(), "nops.db");
    const database = openDatabase({ path });
    migrate(database, { path, now: builtAt });
    fillFirstSchema(database);
    const rebuild = {
      number: newestSchema() + 1,
      name: "rebuild",
      sql: `CREATE TABLE fresh AS SELECT * FROM deployments; DROP TABLE deployments; ALTER TABLE fresh RENAME TO deployments;
        CREATE UNIQUE INDEX fresh_id ON deployments (id);`,
    };
    migrate(database, { path, now: builtAt, migrations: [...migrations, rebuild] });
    expect(database.prepare("SELECT count(*) FROM deployment_hooks").pluck().get()).toBe(allStates.length);
    expect(database.pragma("foreign_keys", { simple: true })).toBe(1);
    database.close();
  });

  it("undoes every step when one fails, or leaves a row without its parent", () => {
    const path = join(tempFolder(), "nops.db");
    const database = openDatabase({ path });
    migrate(database, { path, now: builtAt, upTo: 1 });
    fillFirstSchema(database);
    for (const sql of ["CREATE TABLE extra (x); SELECT nonsense", "CREATE TABLE extra (x); DELETE FROM deployments"]) {
      const bad = [...migrations, { number: newestSchema() + 1, name: "bad", sql }];
      expect(() => migrate(database, { path, now: builtAt, migrations: bad })).toThrow();
      expect(schemaVersion(database)).toBe(1);
      expect(database.prepare("SELECT count(*) FROM sqlite_schema WHERE name IN ('extra', 'verdicts')").pluck().get()).toBe(0);
      expect(database.pragma("foreign_keys", { simple: true })).toBe(1);
    }
    expect(migrate(database, { path, now: builtAt })).toMatchObject({ from: 1, to: newestSchema() });
    database.close();
  });

  it("refuses a newer schema, and a step that is not the one it knows", async () => {
    const path = join(tempFolder(), "nops.db");
    await openStore({ path, ...world() }).close();
    const database = openDatabase({ path });
    database.prepare("INSERT INTO schema_migrations VALUES (99, 'future', 'x', ?)").run(builtAt);
    const tooNew = expect.objectContaining({
      code: "schema_too_new",
      message: `the database ${path} has schema 99, this nops knows schemas up to ${newestSchema()}`,
    });
    expect(() => openStore({ path, ...world() })).toThrow(tooNew);
    expect(() => openStore({ path, ...world(), role: "admin" })).toThrow(tooNew);
    database.exec("DELETE FROM schema_migrations WHERE number = 99; UPDATE schema_migrations SET sha256 = 'x' WHERE number = 2");
    expect(() => openStore({ path, ...world() })).toThrow(expect.objectContaining({ code: "schema_changed" }));
    database.close();
  });

  it("never lets a command change the schema under an older operator", () => {
    const path = join(tempFolder(), "nops.db");
    const database = openDatabase({ path });
    migrate(database, { path, now: builtAt, upTo: 1 });
    expect(() => openStore({ path, ...world(), role: "admin" })).toThrow(expect.objectContaining({ code: "schema_outdated" }));
    expect(schemaVersion(database)).toBe(1);
    database.close();
  });
});
