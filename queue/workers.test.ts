import { expect, it } from "vitest";
import type { Log, LogFields } from "../model/log.ts";
import { silentLog } from "../model/log.ts";
import { settled as everythingSettled, FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { recheck, settled } from "./reconciler.ts";
import { startLoop } from "./workers.ts";

function options(clock: FakeClock, log: Log = silentLog) {
  return { clock, random: new SeededRandom(), log, concurrency: 2, backoff: { baseMs: 100, maxMs: 1_000, jitter: 0 } };
}

it("S68: a key whose pass always throws goes on alone and slower, the others are not disturbed", async () => {
  const clock = new FakeClock(0);
  const passes: string[] = [];
  const errors: LogFields[] = [];
  const log: Log = { ...silentLog, error: (_message, fields) => errors.push(fields ?? {}), child: () => log };
  const loop = startLoop<string>(
    {
      name: "test",
      reconcile: async (key) => {
        passes.push(`${key}@${clock.now()}`);
        if (key === "bad") throw new TypeError("boom");
        return key === "again" ? recheck(300, "more") : settled;
      },
    },
    options(clock, log),
  );
  for (const key of ["bad", "good", "again"]) loop.add(key);
  await clock.advance(700);
  expect(passes).toEqual(["bad@0", "good@0", "again@0", "bad@100", "again@300", "bad@300", "again@600", "bad@700"]);
  expect(errors.map((fields) => fields.failures)).toEqual([1, 2, 3, 4]);
  expect([loop.failing, loop.lastPassAt]).toEqual([1, 700]);
  await loop.drain(0);
  expect(clock.pending).toBe(0);
});

it("tells a pass that its time is over, and reports its length", async () => {
  const clock = new FakeClock(0);
  const reports: unknown[] = [];
  const loop = startLoop<string>(
    {
      name: "slow",
      reconcile: (_key, pass) =>
        new Promise((resolve) => {
          pass.signal.addEventListener("abort", () => resolve(settled), { once: true });
        }),
    },
    { ...options(clock), deadlineMs: 5_000, onPass: (report) => reports.push(report) },
  );
  loop.add("a");
  await clock.advance(5_000);
  await everythingSettled();
  expect(reports).toEqual([{ loop: "slow", ending: "settled", durationMs: 5_000 }]);
});

it("tells a pass that asks for its signal only after the loop has stopped", async () => {
  const clock = new FakeClock(0);
  let aborted = false;
  const loop = startLoop<string>(
    {
      name: "late",
      reconcile: async (_key, pass) => {
        await clock.sleep(2_000);
        aborted = pass.signal.aborted;
        return settled;
      },
    },
    options(clock),
  );
  loop.add("a");
  await everythingSettled();
  const drained = loop.drain(1_000);
  await clock.advance(2_000);
  await drained;
  expect(aborted).toBe(true);
});
