/** The real clock and the real source of chance; the only place outside tests that touches either. */
import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleepFor } from "node:timers/promises";
import type { Clock, Random } from "../model/clock.ts";

// Longer delays overflow Node's timer and would fire at once.
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, fn) => {
    const due = Date.now() + ms;
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const rest = due - Date.now();
      handle = rest > longestTimerMs ? setTimeout(arm, longestTimerMs) : setTimeout(fn, Math.max(0, rest));
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  },
  sleep: async (ms, signal) => {
    await sleepFor(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
  },
};

export const systemRandom: Random = {
  next: () => randomInt(2 ** 47) / 2 ** 47,
  bytes: (length) => randomBytes(length),
};
