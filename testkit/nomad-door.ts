/**
 * A door before a Nomad. A test stops a request there, before it takes effect or before its answer comes back, and learns when one stands
 * there; a process that dies meanwhile takes its request along, as it would on a real wire.
 */
import { type CannedAnswer, type ProxiedCall, startProxy } from "./proxy.ts";

/** `request`: nothing has happened yet. `answer`: it took effect, and nobody knows. */
export type DoorSide = "request" | "answer";
export type CallMatcher = (call: ProxiedCall) => boolean;

/** A place at which requests are stopped. */
export interface Stop {
  /** Resolves when the first one stands there. */
  readonly reached: Promise<ProxiedCall>;
  /** Lets go who stands there, and stops nobody any more. */
  letGo(): void;
}

export interface NomadDoor {
  /** Where a process finds the Nomad behind it. */
  readonly address: string;
  /** Stops every call that matches, until it is let go. */
  stop(side: DoorSide, matches: CallMatcher): Stop;
  /** Answers every call that matches in Nomad's place. Returns how to end that. */
  answer(matches: CallMatcher, answer: CannedAnswer): () => void;
  /** Ends all stops and answers. The lines of those who stand there are cut: they died, and what they had asked does not happen any more. */
  cutAll(): void;
  /** Calls so far that match, whether they reached Nomad or not. */
  count(matches: CallMatcher): number;
  close(): Promise<void>;
}

interface Standing extends Stop {
  readonly side: DoorSide;
  readonly matches: CallMatcher;
  readonly wait: (call: ProxiedCall) => Promise<void>;
  readonly cut: () => void;
}

export async function openNomadDoor(nomad: string): Promise<NomadDoor> {
  const calls: ProxiedCall[] = [];
  const stops = new Set<Standing>();
  const answers = new Set<{ readonly matches: CallMatcher; readonly answer: CannedAnswer }>();
  const pause = (side: DoorSide, call: ProxiedCall): Promise<void> | undefined =>
    [...stops].find((stop) => stop.side === side && stop.matches(call))?.wait(call);
  const proxy = await startProxy(nomad, {
    before: async (call) => {
      calls.push(call);
      await pause("request", call);
      return [...answers].find(({ matches }) => matches(call))?.answer;
    },
    after: (call) => pause("answer", call),
  });
  return {
    address: proxy.address,
    stop: (side, matches) => {
      const stop = standing(side, matches, () => stops.delete(stop));
      stops.add(stop);
      return stop;
    },
    answer: (matches, answer) => {
      const entry = { matches, answer };
      answers.add(entry);
      return () => answers.delete(entry);
    },
    cutAll: () => {
      for (const stop of [...stops]) stop.cut();
      answers.clear();
    },
    count: (matches) => calls.filter(matches).length,
    close: () => proxy.close(),
  };
}

function standing(side: DoorSide, matches: CallMatcher, end: () => void): Standing {
  let tellReached: (call: ProxiedCall) => void = () => undefined;
  const reached = new Promise<ProxiedCall>((resolve) => {
    tellReached = resolve;
  });
  let release: { readonly go: () => void; readonly cut: () => void } = { go: () => undefined, cut: () => undefined };
  const released = new Promise<void>((resolve, reject) => {
    release = { go: resolve, cut: () => reject(new Error("its line was cut at the door")) };
  });
  // Nobody may be standing there.
  released.catch(() => undefined);
  return {
    side,
    matches,
    reached,
    wait: (call) => {
      tellReached(call);
      return released;
    },
    letGo: () => {
      end();
      release.go();
    },
    cut: () => {
      end();
      release.cut();
    },
  };
}
