import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const TRIES = 100;

/**
 * Measures the bytes of array buffers that `action` leaves held: what is merely not collected yet does not count. Buffers are
 * freed by another thread some time after a collection, so it collects until the figure is below `enough`, and returns the
 * least it saw when that never comes.
 *
 * @param enough bytes
 * @returns bytes
 */
export async function heldBytesAfter(action: () => Promise<void> | void, enough: number): Promise<number> {
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  await action();
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least >= enough; i += 1) {
    collectGarbage();
    least = Math.min(least, process.memoryUsage().arrayBuffers - before);
    if (least >= enough) await delay(10);
  }
  return least;
}
