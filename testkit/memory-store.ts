import { openStore, type Store, type StoreOptions } from "../store/open.ts";
import { builtAtMs } from "./builders.ts";
import { FakeClock, SeededRandom } from "./fake-clock.ts";

/** A store in memory with a clock that stands at `builtAt` and a fixed seed, plus what the test is about. */
export function memoryStore(over: Partial<StoreOptions> = {}): Store {
  return openStore({ path: ":memory:", clock: new FakeClock(builtAtMs), random: new SeededRandom(7), ...over });
}
