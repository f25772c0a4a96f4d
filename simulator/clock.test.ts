import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledClock, TimerSet, VirtualClock } from "./clock.ts";

describe("VirtualClock", () => {
  it("fires timers in the order of their time, equals in the order in which they were set", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }), (delays) => {
        const clock = new VirtualClock(0);
        const fired: [number, number][] = [];
        delays.forEach((delay, i) => {
          clock.setTimer(delay, () => fired.push([clock.now(), i]));
        });
        clock.advance(20);
        const wanted = delays.map((delay, i): [number, number] => [delay, i]).sort(([a, i], [b, j]) => a - b || i - j);
        expect(fired).toEqual(wanted);
      }),
    );
  });

  it("stands still by itself, and fires what timers set on the way", () => {
    const clock = new VirtualClock(100);
    const seen: number[] = [];
    clock.setTimer(5, () => clock.setTimer(5, () => seen.push(clock.now())));
    clock.advance(9);
    expect([clock.now(), seen]).toEqual([109, []]);
    clock.advance(1);
    expect([clock.now(), seen]).toEqual([110, [110]]);
  });

  it("does not fire a cancelled timer, and does not wait for it", () => {
    const clock = new VirtualClock(0);
    let fired = false;
    const timer = clock.setTimer(5, () => {
      fired = true;
    });
    clock.setTimer(8, () => {});
    timer.cancel();
    expect(clock.untilNext()).toBe(8);
    clock.advance(100);
    expect([fired, clock.untilNext()]).toEqual([false, undefined]);
  });

  it("keeps its order when most timers are cancelled, and forgets what those held", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 200, maxLength: 300 }), fc.nat(9), (delays, kept) => {
        const clock = new VirtualClock(0);
        const fired: [number, number][] = [];
        const timers = delays.map((delay, i) => clock.setTimer(delay, () => fired.push([clock.now(), i])));
        const stays = (i: number): boolean => i % 10 === kept;
        for (const [i, timer] of timers.entries()) if (!stays(i)) timer.cancel();
        clock.advance(20);
        const wanted = delays.map((delay, i): [number, number] => [delay, i]).filter(([, i]) => stays(i));
        expect(fired).toEqual(wanted.sort(([a, i], [b, j]) => a - b || i - j));
      }),
      { numRuns: 30 },
    );
  });

  it("sleeps until its time has come, or the signal says otherwise", async () => {
    const clock = new VirtualClock(0);
    const abort = new AbortController();
    const slept = clock.sleep(10).then(() => "slept");
    const stopped = clock.sleep(10, abort.signal).catch((error: unknown) => error);
    abort.abort("enough");
    expect(await stopped).toBe("enough");
    clock.advance(10);
    expect(await slept).toBe("slept");
    await expect(clock.sleep(1, abort.signal)).rejects.toBe("enough");
  });
});

describe("scaledClock", () => {
  it("runs so many times as fast as the clock below it", () => {
    const base = new VirtualClock(1000);
    const clock = scaledClock(base, 20);
    let at = 0;
    clock.setTimer(600, () => {
      at = base.now();
    });
    base.advance(50);
    expect([clock.now(), at]).toEqual([2000, 1030]);
  });
});

describe("TimerSet", () => {
  it("leaves no timer behind, and sets none once closed", () => {
    const base = new VirtualClock(0);
    const timers = new TimerSet(base);
    const fired: string[] = [];
    timers.setTimer(5, () => fired.push("a"));
    timers.setTimer(9, () => fired.push("b"));
    base.advance(5);
    timers.close();
    timers.setTimer(1, () => fired.push("c"));
    base.advance(10);
    expect([fired, base.untilNext()]).toEqual([["a"], undefined]);
  });
});
