import type { Duplex } from "node:stream";
import type { Timer } from "../model/clock.ts";
import { messageOf, NomadError } from "../model/errors.ts";
import { type JobSignal, parseFrame, WATCHED_TOPICS } from "./events.ts";
import { createLineSplitter, type LinePiece } from "./lines.ts";
import type { WatchSettings, WatchSignal } from "./watch.ts";

/** What a watch remembers from one connection to the next. */
export interface WatchMemory {
  /** Where the next stream goes on; `undefined`: whatever the server still has. */
  resumeIndex: number | undefined;
  /** Highest index that a list, or an event about a job itself, has shown: a list below it means that the index went back. */
  highestIndex: number;
  /** When the last list was read, milliseconds since the epoch. */
  listedAt: number;
}

/** Why a connection is over. */
export interface SessionEnd {
  readonly reason: "refused" | "closed" | "silent" | "failed" | "index_went_back";
  readonly error: NomadError;
}

const OPEN_TIMEOUT_MS = 30_000;
// Events about jobs that come while the first list is under way; beyond this they are passed on at once.
const MAX_HELD = 10_000;

/**
 * One connection of the event stream, from opening it to its end. Never rejects.
 * The stream is opened first and the list read once it has begun: what happened before stands in the list, what happens
 * after comes as an event, and no gap is left whatever the server's buffer has dropped.
 */
export async function runSession(
  settings: WatchSettings,
  namespace: string,
  memory: WatchMemory,
  onSignal: (signal: WatchSignal) => void,
  abort: AbortSignal,
  onConnected: () => void,
): Promise<SessionEnd> {
  let stream: Duplex;
  try {
    stream = (await openEvents(settings, namespace, memory, abort)).stream;
  } catch (error) {
    return { reason: "failed", error: asNomadError(error) };
  }
  const session = createSession(settings, namespace, memory, onSignal, stream, onConnected);
  const onAbort = (): void => void stream.destroy();
  abort.addEventListener("abort", onAbort);
  if (abort.aborted) onAbort();
  try {
    const splitter = createLineSplitter(settings.maxLineBytes);
    for await (const chunk of stream) {
      for (const piece of splitter.push(chunk as Buffer)) session.take(piece);
    }
  } catch (error) {
    session.end("failed", `the event stream broke (${codeOf(error)})`);
  } finally {
    abort.removeEventListener("abort", onAbort);
    stream.destroy();
  }
  return session.close();
}

function openEvents(settings: WatchSettings, namespace: string, memory: WatchMemory, signal: AbortSignal) {
  return settings.client.transport.stream({
    operation: "event_stream",
    what: `follow events of namespace ${namespace}`,
    effect: "read",
    method: "GET",
    path: "/v1/event/stream",
    query: { topic: [...WATCHED_TOPICS], namespace, index: memory.resumeIndex },
    timeoutMs: OPEN_TIMEOUT_MS,
    signal,
    long: true,
  });
}

function createSession(
  settings: WatchSettings,
  namespace: string,
  memory: WatchMemory,
  onSignal: (signal: WatchSignal) => void,
  stream: Duplex,
  onConnected: () => void,
) {
  const { client, clock, log } = settings;
  const stopLists = new AbortController();
  const held = new Map<string, JobSignal>();
  let begun = false;
  let over: SessionEnd | undefined;
  let listIndex: number | undefined;
  let listing = false;
  let listAgain = false;
  let silence: Timer = clock.setTimer(settings.silenceMs, onSilence);
  let resync: Timer | undefined;

  function end(reason: SessionEnd["reason"], words: string): void {
    if (over !== undefined) return;
    over = { reason, error: new NomadError(`${words}; namespace ${namespace}`, { kind: "overloaded" }) };
    silence.cancel();
    resync?.cancel();
    stopLists.abort();
    stream.destroy();
  }

  function onSilence(): void {
    end("silent", `Nomad sent nothing for ${settings.silenceMs / 1000} s`);
  }

  function take(piece: LinePiece): void {
    if (over !== undefined) return;
    silence.cancel();
    silence = clock.setTimer(settings.silenceMs, onSilence);
    if (!begun) {
      begun = true;
      onConnected();
      list();
    }
    if (piece.kind === "overlong") {
      log.warn("an event of Nomad is larger than allowed; a list is read instead", { namespace, limit: settings.maxLineBytes });
      list();
    } else {
      takeLine(piece.text);
    }
  }

  function takeLine(text: string): void {
    let frame: ReturnType<typeof parseFrame>;
    try {
      frame = parseFrame(text);
    } catch {
      log.warn("an event of Nomad cannot be read; a list is read instead", { namespace, bytes: text.length });
      list();
      return;
    }
    if (frame.kind === "heartbeat") return;
    for (const signal of frame.signals) pass(signal);
    memory.resumeIndex = Math.max(memory.resumeIndex ?? 0, frame.index);
  }

  /** Only events about a job itself are covered by a list, which shows nothing of allocations or deployments. */
  function pass(signal: JobSignal): void {
    if (signal.topic !== "Job") return onSignal(signal);
    memory.highestIndex = Math.max(memory.highestIndex, signal.index);
    if (listIndex === undefined && held.size < MAX_HELD) held.set(signal.key, signal);
    else if (listIndex === undefined || signal.index > listIndex) onSignal(signal);
  }

  function list(): void {
    if (listing) {
      listAgain = true;
      return;
    }
    listing = true;
    resync?.cancel();
    readList().then(
      () => {
        listing = false;
        if (over !== undefined) return;
        if (listAgain) {
          listAgain = false;
          list();
        } else {
          resync = clock.setTimer(settings.resyncIntervalMs, list);
        }
      },
      (error: unknown) => end("failed", messageOf(error)),
    );
  }

  async function readList(): Promise<void> {
    const known = memory.highestIndex;
    const { index, jobs } = await client.listJobs(namespace, { signal: stopLists.signal });
    if (over !== undefined) return;
    memory.listedAt = clock.now();
    onSignal({ kind: "listed", namespace, jobs, index });
    if (index < known) {
      // A restored snapshot or another cluster: a stream that waits for the old index would hear nothing (nomad-api §17).
      log.warn("Nomad's index went back; watching starts over", { namespace, from: known, to: index });
      memory.resumeIndex = undefined;
      memory.highestIndex = index;
      end("index_went_back", "Nomad's index went back");
      return;
    }
    memory.highestIndex = Math.max(memory.highestIndex, index);
    memory.resumeIndex = Math.max(memory.resumeIndex ?? 0, index);
    listIndex ??= index;
    for (const signal of held.values()) if (signal.index > index) onSignal(signal);
    held.clear();
  }

  return {
    take,
    end,
    /** The stream is over; says why. */
    close(): SessionEnd {
      if (begun) end("closed", "Nomad closed the event stream");
      else {
        end("refused", "Nomad ended the event stream before it began: no right to read events there, or events are switched off");
      }
      return over ?? { reason: "closed", error: new NomadError("the event stream is over", { kind: "overloaded" }) };
    },
  };
}

function asNomadError(error: unknown): NomadError {
  return error instanceof NomadError ? error : new NomadError(messageOf(error), { kind: "overloaded" });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
