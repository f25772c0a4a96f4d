import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../model/clock.ts";
import type { JobFile } from "../model/desired.ts";
import { fromWire, GitError } from "./git-error.ts";
import type { RepositoryRead, RepositorySpec } from "./repository-reader.ts";
import { createWorkerHost } from "./worker-host.ts";
import { type FromWorker, type ToWorker, unpackFile, type WireOutcome } from "./worker-protocol.ts";

/**
 * `thread`: git and HCL run in a worker thread, so that neither a large clone nor 10,000 files hold the engine up (libraries
 * §2.2, trap 1). `inline`: in the caller's thread, for tests and short commands. Sources in TypeScript cannot be loaded by a thread
 * on Node 20, so there `inline` is the default; compiled code defaults to `thread`.
 */
export type WorkerMode = "thread" | "inline";

export interface WorkerClient {
  /** Reads a repository. @throws GitError, `aborted` when the signal aborts, `timeout` beyond the repository's `totalMs`. */
  read(repository: string, known: string | undefined, signal: AbortSignal): Promise<RepositoryRead>;
  /** Ends the thread; reads under way fail as aborted. */
  close(): Promise<void>;
}

/** A thread that does not react to an abort is ended after this time, ms. */
const graceMs = 5_000;
/** How often one read is begun, when the thread dies under it. */
const attempts = 2;

interface Peer {
  post(message: ToWorker): void;
  terminate(): Promise<void>;
}

interface Held {
  readonly generation: number;
  readonly files: ReadonlyMap<string, JobFile>;
}

/** Starts no thread before the first read; the thread keeps the process alive until `close`. A thread that dies is replaced, and what it was reading is begun again once. */
export function createWorkerClient(
  specs: readonly RepositorySpec[],
  options: { readonly clock: Clock; readonly mode?: WorkerMode },
): WorkerClient {
  return new Client(specs, options.clock, options.mode ?? (import.meta.url.endsWith(".ts") ? "inline" : "thread"));
}

/** One read under way. */
class Read {
  readonly message: ToWorker & { type: "read" };
  readonly where: string;
  readonly files = new Map<string, JobFile>();
  begun = 0;
  /** Why the asker gave it up; wins over whatever the thread answers. */
  reason: GitError | undefined;
  readonly timers: Timer[] = [];
  readonly #resolve: (outcome: WireOutcome) => void;
  readonly #reject: (error: GitError) => void;

  constructor(
    message: Read["message"],
    where: string,
    resolve: (outcome: WireOutcome) => void,
    reject: (error: GitError) => void,
  ) {
    this.message = message;
    this.where = where;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  settle(result: WireOutcome | GitError): void {
    for (const timer of this.timers) timer.cancel();
    if (result instanceof GitError) this.#reject(this.reason ?? result);
    else this.#resolve(result);
  }
}

class Client implements WorkerClient {
  readonly #specs: readonly RepositorySpec[];
  readonly #clock: Clock;
  readonly #mode: WorkerMode;
  readonly #pending = new Map<number, Read>();
  readonly #held = new Map<string, Held>();
  #peer: Peer | undefined;
  #lastId = 0;
  #closed = false;

  constructor(specs: readonly RepositorySpec[], clock: Clock, mode: WorkerMode) {
    this.#specs = specs;
    this.#clock = clock;
    this.#mode = mode;
  }

  async read(repository: string, known: string | undefined, signal: AbortSignal): Promise<RepositoryRead> {
    const spec = this.#specs.find(({ name }) => name === repository);
    const where = spec?.location.display ?? repository;
    const aborted = () => new GitError("aborted", `reading ${where} was given up`);
    if (this.#closed || signal.aborted) throw aborted();
    const id = ++this.#lastId;
    const message = { type: "read", id, repository, known, base: undefined } as const;
    let onAbort = () => {};
    try {
      const { outcome, files } = await new Promise<{ outcome: WireOutcome; files: Read["files"] }>((resolve, reject) => {
        const read: Read = new Read(message, where, (done) => resolve({ outcome: done, files: read.files }), reject);
        this.#pending.set(id, read);
        onAbort = () => this.#giveUp(read, aborted());
        signal.addEventListener("abort", onAbort, { once: true });
        const totalMs = spec?.limits.totalMs ?? graceMs;
        const late = new GitError(
          "timeout",
          `reading ${where} took longer than ${totalMs / 1000} s`,
          "nops tries again by itself",
        );
        read.timers.push(this.#clock.setTimer(totalMs, () => this.#giveUp(read, late)));
        this.#begin(read);
      });
      return this.#finish(repository, outcome, files);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#pending.delete(id);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const peer = this.#peer;
    this.#peer = undefined;
    for (const [id, read] of [...this.#pending]) {
      peer?.post({ type: "abort", id });
      read.settle(new GitError("aborted", `reading ${read.where} was given up: nops stops`));
    }
    await peer?.terminate();
  }

  #begin(read: Read): void {
    read.begun++;
    read.files.clear();
    const onMessage = (message: FromWorker) => this.#onMessage(message);
    this.#peer ??=
      this.#mode === "thread"
        ? startThread(this.#specs, onMessage, (...ended) => this.#onEnd(...ended))
        : startInline(this.#specs, onMessage);
    this.#peer.post({ ...read.message, base: this.#held.get(read.message.repository)?.generation });
  }

  #giveUp(read: Read, reason: GitError): void {
    if (read.reason !== undefined) return;
    read.reason = reason;
    this.#peer?.post({ type: "abort", id: read.message.id });
    const stuck = () => {
      read.settle(reason);
      void this.#replacePeer();
    };
    read.timers.push(this.#clock.setTimer(graceMs, stuck));
  }

  #onMessage(message: FromWorker): void {
    const read = this.#pending.get(message.id);
    if (message.type === "files") for (const file of message.files) read?.files.set(file.path, unpackFile(file));
    else read?.settle(message.type === "done" ? message.outcome : fromWire(message.error));
  }

  /** Begins again what the ended side was reading; a new one has nothing to compare with. */
  #onEnd(ended: Peer, why: string): void {
    if (this.#peer !== ended) return;
    this.#peer = undefined;
    this.#held.clear();
    for (const read of [...this.#pending.values()]) {
      if (read.reason !== undefined) read.settle(read.reason);
      else if (read.begun < attempts) this.#begin(read);
      else read.settle(new GitError("damaged", `the git thread ended while it read ${read.where}: ${why}`));
    }
  }

  async #replacePeer(): Promise<void> {
    const stuck = this.#peer;
    if (stuck === undefined) return;
    await stuck.terminate();
    this.#onEnd(stuck, "it was stuck");
  }

  /** Puts the sent files and those that are here together. */
  #finish(repository: string, outcome: WireOutcome, sent: ReadonlyMap<string, JobFile>): RepositoryRead {
    if (!outcome.changed) return outcome;
    const { generation, complete, removed, ...rest } = outcome;
    const files = complete ? new Map<string, JobFile>() : new Map(this.#held.get(repository)?.files);
    const grows = [...sent.keys()].some((path) => !files.has(path));
    for (const path of removed) files.delete(path);
    for (const [path, file] of sent) files.set(path, file);
    const ordered = grows && !complete ? new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1))) : files;
    this.#held.set(repository, { generation, files: ordered });
    return { ...rest, files: [...ordered.values()] };
  }
}

function startThread(
  specs: readonly RepositorySpec[],
  onMessage: (message: FromWorker) => void,
  onEnd: (peer: Peer, why: string) => void,
): Peer {
  const entry = new URL("./worker.js", import.meta.url);
  // No environment: nothing of it may reach what talks to strangers (reliability S08). isomorphic-git prints odd errors to stdout.
  const worker = new Worker(entry, { workerData: specs, env: {}, execArgv: [], stdout: true, name: "nops-git" });
  let why = "";
  const peer: Peer = {
    post: (message) => worker.postMessage(message),
    async terminate() {
      await worker.terminate();
    },
  };
  worker.on("message", onMessage);
  worker.on("error", (error) => {
    why = error.message;
  });
  worker.on("exit", (code) => onEnd(peer, why === "" ? `exit code ${code}` : why));
  return peer;
}

function startInline(specs: readonly RepositorySpec[], onMessage: (message: FromWorker) => void): Peer {
  let ended = false;
  const host = createWorkerHost(specs, (message) => {
    if (!ended) onMessage(message);
  });
  return {
    post: (message) => host.receive(message),
    async terminate() {
      ended = true;
    },
  };
}
