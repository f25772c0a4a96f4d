import fc from "fast-check";
import { expect, it } from "vitest";
import { FakeClock } from "../testkit/fake-clock.ts";
import { Schedule } from "./schedule.ts";

function open() {
  const clock = new FakeClock(0);
  const fired: string[] = [];
  return { clock, fired, schedule: new Schedule<string>(clock, (key) => fired.push(`${key}@${clock.now()}`)) };
}

it("fires once at its time; setting again replaces", async () => {
  const { clock, fired, schedule } = open();
  schedule.set("a", 100);
  schedule.set("a", 50);
  schedule.set("b", 70);
  await clock.advance(500);
  expect([fired, schedule.size]).toEqual([["a@50", "b@70"], 0]);
});

it("fires a past time as soon as possible, not inside the call", async () => {
  const { clock, fired, schedule } = open();
  await clock.advance(100);
  schedule.set("a", 10);
  expect(fired).toEqual([]);
  await clock.advance(0);
  expect(fired).toEqual(["a@100"]);
});

it("does not fire what was cleared", async () => {
  const { clock, fired, schedule } = open();
  schedule.set("a", 10);
  schedule.set("b", 10);
  schedule.clear("a");
  schedule.clearAll();
  await clock.advance(100);
  expect([fired, clock.pending]).toEqual([[], 0]);
});

it("waits longer than a timer can", async () => {
  const { clock, fired, schedule } = open();
  const at = 2 ** 31 + 1_000;
  schedule.set("a", at);
  await clock.advance(at);
  expect(fired).toEqual([`a@${at}`]);
});

it("fires each key exactly at the time set last, over any history", async () => {
  const set = fc.record({ key: fc.constantFrom("a", "b", "c"), at: fc.nat(1_000), wait: fc.nat(60) });
  await fc.assert(
    fc.asyncProperty(fc.array(set, { minLength: 25, maxLength: 50 }), async (sets) => {
      const { clock, fired, schedule } = open();
      const expected: string[] = [];
      const due = new Map<string, number>();
      const pass = (now: number): void => {
        for (const [key, at] of [...due].sort((a, b) => a[1] - b[1])) {
          if (at > now) continue;
          expected.push(`${key}@${at}`);
          due.delete(key);
        }
      };
      for (const each of sets) {
        schedule.set(each.key, each.at);
        due.set(each.key, Math.max(each.at, clock.now()));
        await clock.advance(each.wait);
        pass(clock.now());
      }
      await clock.advance(2_000);
      pass(clock.now());
      expect(fired.toSorted()).toEqual(expected.toSorted());
    }),
    { numRuns: 200 },
  );
});
