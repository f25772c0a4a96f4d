import { messageOf } from "../model/errors.ts";
import type { Log } from "../model/log.ts";
import type { NomadWatchOptions, WatchSettings, WatchSignal } from "./watch-options.ts";
import { runSession, type SessionEnd, type WatchMemory } from "./watch-session.ts";

const BACKOFF_BASE_MS = 500;
const BACKOFF_MAX_MS = 30_000;
// A session that lived this long was a good one; shorter ones count as failures, so that a server which
// lets us in and throws us out again is not asked for a list twice a second.
const GOOD_SESSION_MS = 30_000;

/**
 * Watches namespaces by the event stream (nomad-api §8, §17). After every (re)connect one list, so that nothing which
 * happened in between is missed; while the stream cannot be had, lists every `pollIntervalMs` instead.
 * Memory is bounded: one line, and the keys of events that come before the first list.
 */
export function createNomadWatch(options: NomadWatchOptions): {
  watch(namespace: string, onSignal: (signal: WatchSignal) => void, abort: Pick<AbortController, "signal">): Promise<void>;
} {
  const settings: WatchSettings = {
    client: options.client,
    clock: options.clock,
    random: options.random,
    log: options.log,
    resyncIntervalMs: options.resyncIntervalMs ?? 600_000,
    silenceMs: options.silenceMs ?? 60_000,
    maxLineBytes: options.maxLineBytes ?? 16 * 1024 * 1024,
    pollIntervalMs: options.pollIntervalMs ?? 30_000,
    onState: options.onState,
  };
  return {
    /** Runs until `abort`, then resolves; reconnects by itself and never rejects. `onSignal` must not throw. */
    async watch(namespace, onSignal, abort) {
      await keepWatching(settings, namespace, guarded(settings.log, onSignal), abort.signal);
    },
  };
}

async function keepWatching(
  settings: WatchSettings,
  namespace: string,
  onSignal: (signal: WatchSignal) => void,
  abort: AbortSignal,
): Promise<void> {
  const { clock, random } = settings;
  const memory: WatchMemory = { resumeIndex: undefined, highestIndex: 0, listedAt: Number.NEGATIVE_INFINITY };
  const report = reporter(settings, namespace);
  let failures = 0;
  let restarted = false;
  while (!abort.aborted) {
    const startedAt = clock.now();
    const end = await runSession(settings, namespace, memory, onSignal, abort, report.connected);
    if (abort.aborted) return;
    if (end.reason === "index_went_back" && !restarted) {
      restarted = true;
      continue;
    }
    restarted = false;
    failures = clock.now() - startedAt >= GOOD_SESSION_MS ? 0 : failures + 1;
    report.lost(end);
    await pollOnce(settings, namespace, memory, onSignal, abort);
    const waitMs = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(failures, 10)) * (0.5 + random.next() / 2);
    await clock.sleep(waitMs, abort).catch(() => {});
  }
}

/** Without a stream, changes are found by lists, more slowly. */
async function pollOnce(
  settings: WatchSettings,
  namespace: string,
  memory: WatchMemory,
  onSignal: (signal: WatchSignal) => void,
  abort: AbortSignal,
): Promise<void> {
  const { client, clock, log, pollIntervalMs } = settings;
  if (clock.now() - memory.listedAt < pollIntervalMs) return;
  try {
    const known = memory.highestIndex;
    const { index, jobs } = await client.listJobs(namespace, { signal: abort });
    memory.listedAt = clock.now();
    const wentBack = index < known;
    onSignal({ kind: "listed", namespace, jobs, index, wentBack });
    memory.highestIndex = index;
    if (wentBack) memory.resumeIndex = undefined;
  } catch (error) {
    log.debug("cannot list jobs", { namespace, error: messageOf(error) });
  }
}

/** Tells the log once per change, not once per attempt. */
function reporter(
  settings: WatchSettings,
  namespace: string,
): { readonly connected: () => void; readonly lost: (end: SessionEnd) => void } {
  const { log, onState } = settings;
  let told: string | undefined;
  return {
    connected() {
      if (told !== undefined) log.info("the event stream of Nomad is open again", { namespace });
      told = undefined;
      onState?.({ namespace, connected: true, error: undefined });
    },
    lost(end) {
      const { message } = end.error;
      if (told !== message) log.warn("no event stream from Nomad", { namespace, error: message });
      told = message;
      onState?.({ namespace, connected: false, error: end.error });
    },
  };
}

function guarded(log: Log, onSignal: (signal: WatchSignal) => void): (signal: WatchSignal) => void {
  return (signal) => {
    try {
      onSignal(signal);
    } catch (error) {
      log.error("handling a signal from Nomad failed", { kind: signal.kind, error: messageOf(error) });
    }
  };
}
