import type { Duplex } from "node:stream";
import type { Timer } from "../model/clock.ts";
import { messageOf, NomadError } from "../model/errors.ts";
import { type Frame, type JobSignal, parseFrame, WATCHED_TOPICS } from "./events.ts";
import { createLineSplitter, type LinePiece } from "./lines.ts";
import type { WatchSettings, WatchSignal } from "./watch-options.ts";

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
// An accepted stream begins with a heartbeat at once. A refused one has the same head, 200, and then nothing: the server
// forgets to close it for a quarter of a minute and longer (seen on 2.0.6).
const BEGIN_TIMEOUT_MS = 10_000;
const REFUSED = "Nomad ended the event stream before it began: no right to read events there, or events are switched off";
const REFUSED_HINT = "check the token and its policy; nops doctor names what is missing";
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
  const session = new WatchSession(settings, namespace, memory, onSignal, stream, onConnected);
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

/** One open stream: its lines, its clocks, and the lists that go with it. */
class WatchSession {
  readonly #settings: WatchSettings;
  readonly #namespace: string;
  readonly #memory: WatchMemory;
  readonly #onSignal: (signal: WatchSignal) => void;
  readonly #stream: Duplex;
  readonly #onConnected: () => void;
  readonly #stopLists = new AbortController();
  readonly #held = new Map<string, JobSignal>();
  #begun = false;
  #over: SessionEnd | undefined;
  #listIndex: number | undefined;
  #listing = false;
  #listAgain = false;
  #silence: Timer;
  #resync: Timer | undefined;

  constructor(
    settings: WatchSettings,
    namespace: string,
    memory: WatchMemory,
    onSignal: (signal: WatchSignal) => void,
    stream: Duplex,
    onConnected: () => void,
  ) {
    this.#settings = settings;
    this.#namespace = namespace;
    this.#memory = memory;
    this.#onSignal = onSignal;
    this.#stream = stream;
    this.#onConnected = onConnected;
    this.#silence = settings.clock.setTimer(BEGIN_TIMEOUT_MS, () => this.end("refused", REFUSED));
  }

  /** Only whole lines count as a sign of life: bytes that trickle in could go on forever. */
  #watchSilence(): Timer {
    const { clock, silenceMs } = this.#settings;
    return clock.setTimer(silenceMs, () => this.end("silent", `Nomad sent nothing for ${silenceMs / 1000} s`));
  }

  end(reason: SessionEnd["reason"], words: string): void {
    if (this.#over !== undefined) return;
    const hint = reason === "refused" ? { hint: REFUSED_HINT } : {};
    const text = `${words}; namespace ${this.#namespace}`;
    this.#over = { reason, error: new NomadError(text, { kind: "overloaded", ...hint }) };
    this.#silence.cancel();
    this.#resync?.cancel();
    this.#stopLists.abort();
    this.#stream.destroy();
  }

  /** The stream is over; says why. */
  close(): SessionEnd {
    const words = this.#begun ? "Nomad closed the event stream" : REFUSED;
    this.end(this.#begun ? "closed" : "refused", words);
    return this.#over ?? { reason: "closed", error: new NomadError(words, { kind: "overloaded" }) };
  }

  take(piece: LinePiece): void {
    if (this.#over !== undefined) return;
    this.#silence.cancel();
    this.#silence = this.#watchSilence();
    if (!this.#begun) {
      this.#begun = true;
      this.#onConnected();
      this.#list();
    }
    if (piece.kind === "overlong") this.#listInstead("larger than allowed");
    else this.#takeLine(piece.text);
  }

  #takeLine(text: string): void {
    let frame: Frame;
    try {
      frame = parseFrame(text);
    } catch {
      this.#listInstead("not readable");
      return;
    }
    if (frame.kind === "heartbeat") return;
    for (const signal of frame.signals) this.#pass(signal);
    this.#memory.resumeIndex = Math.max(this.#memory.resumeIndex ?? 0, frame.index);
  }

  #listInstead(why: string): void {
    this.#settings.log.warn("an event of Nomad was passed over, a list is read instead", { namespace: this.#namespace, why });
    this.#list();
  }

  /** Only events about a job itself are covered by a list, which shows nothing of allocations or deployments. */
  #pass(signal: JobSignal): void {
    if (signal.topic !== "Job") {
      this.#onSignal(signal);
      return;
    }
    this.#memory.highestIndex = Math.max(this.#memory.highestIndex, signal.index);
    const listIndex = this.#listIndex;
    if (listIndex === undefined && this.#held.size < MAX_HELD) this.#held.set(signal.key, signal);
    else if (listIndex === undefined || signal.index > listIndex) this.#onSignal(signal);
  }

  #list(): void {
    if (this.#listing) {
      this.#listAgain = true;
      return;
    }
    this.#listing = true;
    this.#resync?.cancel();
    this.#readList().then(
      () => this.#afterList(),
      (error: unknown) => this.end("failed", messageOf(error)),
    );
  }

  #afterList(): void {
    this.#listing = false;
    if (this.#over !== undefined) return;
    if (this.#listAgain) {
      this.#listAgain = false;
      this.#list();
      return;
    }
    const { clock, resyncIntervalMs } = this.#settings;
    this.#resync = clock.setTimer(resyncIntervalMs, () => this.#list());
  }

  async #readList(): Promise<void> {
    const { client, clock } = this.#settings;
    const memory = this.#memory;
    const known = memory.highestIndex;
    const { index, jobs } = await client.listJobs(this.#namespace, { signal: this.#stopLists.signal });
    if (this.#over !== undefined) return;
    memory.listedAt = clock.now();
    const wentBack = index < known;
    this.#onSignal({ kind: "listed", namespace: this.#namespace, jobs, index, wentBack });
    if (wentBack) {
      this.#startOver(known, index);
      return;
    }
    memory.highestIndex = Math.max(memory.highestIndex, index);
    memory.resumeIndex = Math.max(memory.resumeIndex ?? 0, index);
    this.#listIndex ??= index;
    for (const signal of this.#held.values()) if (signal.index > index) this.#onSignal(signal);
    this.#held.clear();
  }

  /** A restored snapshot or another cluster: a stream that waits for the old index would hear nothing (nomad-api §17). */
  #startOver(from: number, to: number): void {
    this.#settings.log.warn("Nomad's index went back; watching starts over", { namespace: this.#namespace, from, to });
    this.#memory.resumeIndex = undefined;
    this.#memory.highestIndex = to;
    this.end("index_went_back", "Nomad's index went back");
  }
}

function asNomadError(error: unknown): NomadError {
  return error instanceof NomadError ? error : new NomadError(messageOf(error), { kind: "overloaded" });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
