/**
 * Operator §15, line by line, with the real process: it is brought to a point (a call of it stands at the door of Nomad, or the store refuses its
 * next write), killed there with SIGKILL, and another one starts over the same data folder. All rows share each death.
 */
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StatusJson } from "../api/contract.ts";
import { runNops } from "../testkit/nops-process.ts";
import { DoorWorld, registerOf } from "./suites/door-world.ts";
import { serviceJob } from "./suites/job-text.ts";
import { applyRows, laterApplyRows, promotedRow } from "./suites/recovery-apply.rows.ts";
import { hookRows, laterHookRows, waitedForRow } from "./suites/recovery-hooks.rows.ts";
import { dieAt, type RecoveryRow } from "./suites/recovery-row.ts";
import { waitingRows } from "./suites/recovery-waiting.rows.ts";

const laterMs = 11 * 60_000;

let world: DoorWorld;

beforeAll(async () => {
  world = await DoorWorld.open();
  await world.begin();
});

afterAll(() => world.close());

function afterDeath(name: string, rows: readonly RecoveryRow[], nextLaterMs: number): void {
  describe(name, () => {
    beforeAll(async () => {
      await dieAt(rows, world);
      await world.begin({ laterMs: nextLaterMs });
    }, 90_000);

    for (const { name: row, after } of rows) {
      if (row !== undefined && after !== undefined)
        it(row, async () => {
          await after(world);
        });
    }
  });
}

afterDeath("a death, and the next life at once", [waitedForRow, ...waitingRows, ...hookRows, ...applyRows], 0);
afterDeath("a death, and the next life eleven minutes later", [...laterHookRows, ...laterApplyRows], laterMs);
afterDeath("a death after a promotion", [promotedRow()], laterMs);

describe("two ticks overlapping", () => {
  it("two ticks overlapping: while a register is under way nothing else works on the job", async () => {
    const stop = world.door.stop("answer", registerOf("overlapped"));
    await world.commit({ "overlapped.hcl": serviceJob({ id: "overlapped" }) });
    await stop.reached;
    const { loops } = await world.nops.get<StatusJson>("/api/v1/status");
    for (let tick = 0; tick < 3; tick++) {
      await world.nops.post("/api/v1/fetch");
      await world.nomad("PUT", "/v1/job/overlapped/evaluate", { JobID: "overlapped" });
    }
    await world.nops.until<StatusJson>("/api/v1/status", (now) => now.loops["source"] !== loops["source"]);
    expect(await world.deployment("overlapped", () => true)).toMatchObject({ state: "applying", applied_index: null });
    expect(world.registers("overlapped")).toBe(1);
    expect(secondActive("overlapped")).toThrow("UNIQUE constraint failed: deployments.namespace, deployments.job_id");
    stop.letGo();
    await world.deployment("overlapped", ({ state }) => state === "completed");
    expect(world.registers("overlapped")).toBe(1);
  });

  /** What a second detection would store, beside the lock of the process. */
  function secondActive(job: string): () => void {
    return () => {
      const database = new Database(world.databasePath, { timeout: 10_000 });
      try {
        database.exec(`
          CREATE TEMP TABLE another AS SELECT * FROM deployments WHERE job_id = '${job}';
          UPDATE another SET id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
          INSERT INTO deployments SELECT * FROM another`);
      } finally {
        database.close();
      }
    };
  }
});

it("after all deaths the audit log is whole", async () => {
  const verified = await runNops(["audit", "verify", "--data-dir", world.dataDir]);
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
});
