import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock, settled } from "../testkit/fake-clock.ts";
import { WorkQueue } from "./work-queue.ts";

interface Held {
  readonly key: string;
  readonly at: number;
  finish: () => void;
}

/** A queue whose passes end when the test says so. */
function open(concurrency = 1) {
  const clock = new FakeClock(0);
  const holders: Held[] = [];
  const started: string[] = [];
  const told: string[] = [];
  const queue = new WorkQueue<string>({
    clock,
    concurrency,
    handle: (key, stop) => {
      started.push(key);
      stop.listen(() => {
        told.push(key);
      });
      return new Promise<void>((resolve) => {
        const finish = (): void => {
          holders.splice(holders.indexOf(held), 1);
          resolve();
        };
        const held: Held = { key, at: clock.now(), finish };
        holders.push(held);
      });
    },
  });
  async function finish(key: string): Promise<void> {
    holders.find((held) => held.key === key)?.finish();
    await settled();
  }
  return { clock, queue, holders, started, finish, told };
}

describe("one entry and one holder a key", () => {
  it("turns a thousand adds into one pass, and adds during it into one more", async () => {
    const { queue, started, finish, clock } = open(4);
    for (let i = 0; i < 1_000; i++) queue.add("a");
    await settled();
    for (let i = 0; i < 1_000; i++) queue.add("a");
    await finish("a");
    await finish("a");
    expect([started, queue.waiting, queue.running, clock.pending]).toEqual([["a", "a"], 0, 0, 0]);
  });

  it("keeps a delayed add made while the key is held", async () => {
    const { queue, started, finish, clock } = open();
    queue.add("a");
    await settled();
    queue.add("a", { afterMs: 500 });
    await finish("a");
    await clock.advance(499);
    expect(started).toEqual(["a"]);
    await clock.advance(1);
    expect(started).toEqual(["a", "a"]);
  });
});

describe("merging", () => {
  it.each([
    ["the earlier of two delays", [{ afterMs: 500 }, { afterMs: 200 }], 200],
    ["the earlier, also when it came first", [{ afterMs: 200 }, { afterMs: 500 }], 200],
    ["no delay beats any", [{ afterMs: 500 }, {}], 0],
    ["a negative delay counts as none", [{ afterMs: -5 }], 0],
  ])("keeps %s", async (_name, adds, expected) => {
    const { queue, holders, clock } = open();
    for (const add of adds) queue.add("a", add);
    await clock.advance(1_000);
    expect(holders.map((held) => held.at)).toEqual([expected]);
  });

  it("raises the priority of a key that already stands in line", async () => {
    const { queue, started, finish } = open();
    for (const key of ["first", "b", "c"]) queue.add(key);
    queue.add("c", { priority: 5 });
    queue.add("c", { priority: 1 });
    await settled();
    await finish("first");
    await finish("c");
    expect(started).toEqual(["first", "c", "b"]);
  });
});

describe("order", () => {
  it("runs by priority, then in order of becoming ready", async () => {
    const { queue, started, finish } = open();
    queue.add("first");
    await settled();
    queue.add("low", { priority: -1 });
    queue.add("a");
    queue.add("b");
    queue.add("high", { priority: 9 });
    for (const key of ["first", "high", "a", "b", "low"]) await finish(key);
    expect(started).toEqual(["first", "high", "a", "b", "low"]);
  });

  it("puts a key that returns at once behind those that waited", async () => {
    const { queue, started, finish } = open();
    for (const key of ["busy", "a", "b"]) queue.add(key);
    await settled();
    queue.add("busy");
    for (const key of ["busy", "a", "b", "busy"]) await finish(key);
    expect(started).toEqual(["busy", "a", "b", "busy"]);
  });

  it("uses all places and no more", async () => {
    const { queue, holders } = open(3);
    for (const key of ["a", "b", "c", "d"]) queue.add(key);
    await settled();
    expect(holders.map((held) => held.key)).toEqual(["a", "b", "c"]);
  });
});

describe("draining", () => {
  it("starts nothing more, forgets what waits, and ends with the last holder", async () => {
    const { queue, started, finish, clock, told } = open();
    for (const key of ["a", "b"]) queue.add(key);
    queue.add("later", { afterMs: 100 });
    await settled();
    let drained = false;
    const done = queue.drain(10_000).then(() => {
      drained = true;
    });
    queue.add("c");
    await clock.advance(200);
    expect([started, drained, told]).toEqual([["a"], false, []]);
    await finish("a");
    await done;
    expect([started, queue.waiting, clock.pending]).toEqual([["a"], 0, 0]);
  });

  it("tells a holder that takes too long", async () => {
    const { queue, clock, told, finish } = open();
    queue.add("a");
    await settled();
    const done = queue.drain(1_000);
    await clock.advance(1_000);
    expect(told).toEqual(["a"]);
    await finish("a");
    await done;
  });

  it("ends at once when nothing runs", async () => {
    const { queue, clock } = open();
    queue.add("later", { afterMs: 100 });
    await queue.drain(1_000);
    expect(clock.pending).toBe(0);
  });
});

it("waits longer than a timer can", async () => {
  const { queue, started, clock } = open();
  queue.add("a", { afterMs: 2 ** 31 + 5_000 });
  await clock.advance(2 ** 31);
  expect(started).toEqual([]);
  await clock.advance(5_000);
  expect(started).toEqual(["a"]);
});

type Op =
  | { readonly do: "add"; readonly key: string; readonly afterMs: number; readonly priority: number }
  | { readonly do: "finish"; readonly which: number }
  | { readonly do: "advance"; readonly ms: number };

const key = fc.constantFrom("a", "b", "c", "d", "e");
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      key,
      afterMs: fc.constantFrom(0, 0, 5, 50, 500),
      priority: fc.integer({ min: -1, max: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("finish" as const), which: fc.nat(10) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(1, 5, 49, 500) }) },
);

describe("over any history of 25 to 60 operations", () => {
  it("holds no key twice, hands nothing out early, leaves nothing behind, keeps to its places", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 25, maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (ops, places) => {
        const { queue, clock, holders, started } = open(places);
        // The model: for each key the time from which a pass is owed, if one is.
        const owed = new Map<string, number>();
        let seen = 0;
        const check = async (): Promise<void> => {
          await settled();
          for (const begun of started.slice(seen)) {
            expect(owed.get(begun)).toBeLessThanOrEqual(clock.now());
            owed.delete(begun);
          }
          seen = started.length;
          const keys = holders.map((held) => held.key);
          expect(new Set(keys).size).toBe(keys.length);
          expect(keys.length).toBeLessThanOrEqual(places);
          const ready = [...owed].filter(([k, at]) => at <= clock.now() && !keys.includes(k));
          if (keys.length < places) expect(ready).toEqual([]);
        };
        for (const each of ops) {
          if (each.do === "add") {
            queue.add(each.key, each);
            owed.set(each.key, Math.min(owed.get(each.key) ?? Number.POSITIVE_INFINITY, clock.now() + each.afterMs));
          } else if (each.do === "finish") holders[each.which % Math.max(1, holders.length)]?.finish();
          else await clock.advance(each.ms);
          await check();
        }
        while (owed.size > 0 || holders.length > 0) {
          holders[0]?.finish();
          await clock.advance(500);
          await check();
        }
        expect([queue.waiting, queue.running, clock.pending]).toEqual([0, 0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});
