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

interface Pending {
  readonly message: ToWorker & { type: "read" };
  readonly files: Map<string, JobFile>;
  readonly settle: (result: { readonly outcome: WireOutcome } | { readonly error: GitError }) => void;
  begun: number;
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
  const mode = options.mode ?? (import.meta.url.endsWith(".ts") ? "inline" : "thread");
  const pending = new Map<number, Pending>();
  const held = new Map<string, Held>();
  let peer: Peer | undefined;
  let lastId = 0;
  let closed = false;

  function onMessage(message: FromWorker): void {
    const read = pending.get(message.id);
    if (read === undefined) return;
    if (message.type === "files") for (const file of message.files) read.files.set(file.path, unpackFile(file));
    else read.settle(message.type === "done" ? { outcome: message.outcome } : { error: fromWire(message.error) });
  }

  function onEnd(ended: Peer, why: string): void {
    if (peer !== ended) return;
    peer = undefined;
    held.clear();
    for (const read of [...pending.values()]) {
      if (read.begun >= attempts) read.settle({ error: new GitError("damaged", `the git thread ended unexpectedly: ${why}`) });
      else begin(read);
    }
  }

  function begin(read: Pending): void {
    read.begun++;
    read.files.clear();
    peer ??= mode === "thread" ? startThread(specs, onMessage, onEnd) : startInline(specs, onMessage);
    // After a restart the other side has nothing to compare with.
    peer.post({ ...read.message, base: held.get(read.message.repository)?.generation });
  }

  async function replacePeer(): Promise<void> {
    const stuck = peer;
    if (stuck === undefined) return;
    await stuck.terminate();
    onEnd(stuck, "it was stuck");
  }

  return {
    read(repository, known, signal) {
      const spec = specs.find(({ name }) => name === repository);
      const where = spec?.location.display ?? repository;
      if (closed || signal.aborted) return Promise.reject(new GitError("aborted", `reading ${where} was given up`));
      const id = ++lastId;
      const read = (resolve: (value: RepositoryRead) => void, reject: (error: GitError) => void): void => {
        const timers: Timer[] = [];
        let reason: GitError | undefined;
        const giveUp = (why: GitError) => {
          if (reason !== undefined) return;
          reason = why;
          peer?.post({ type: "abort", id });
          timers.push(
            options.clock.setTimer(graceMs, () => {
              entry.settle({ error: why });
              void replacePeer();
            }),
          );
        };
        const onAbort = () => giveUp(new GitError("aborted", `reading ${where} was given up`));
        const entry: Pending = {
          message: { type: "read", id, repository, known, base: undefined },
          files: new Map(),
          begun: 0,
          settle(result) {
            if (!pending.delete(id)) return;
            signal.removeEventListener("abort", onAbort);
            for (const timer of timers) timer.cancel();
            if ("error" in result) reject(reason ?? result.error);
            else resolve(finish(repository, result.outcome, entry.files));
          },
        };
        pending.set(id, entry);
        signal.addEventListener("abort", onAbort, { once: true });
        const totalMs = spec?.limits.totalMs ?? graceMs;
        const late = () =>
          giveUp(new GitError("timeout", `reading ${where} took longer than ${totalMs / 1000} s`, "nops tries again by itself"));
        timers.push(options.clock.setTimer(totalMs, late));
        begin(entry);
      };
      return new Promise(read);
    },
    async close() {
      closed = true;
      const ended = peer;
      peer = undefined;
      for (const [id, read] of [...pending]) {
        ended?.post({ type: "abort", id });
        read.settle({ error: new GitError("aborted", "nops stops") });
      }
      await ended?.terminate();
    },
  };

  /** Puts the sent files and those that are here together. */
  function finish(repository: string, outcome: WireOutcome, sent: ReadonlyMap<string, JobFile>): RepositoryRead {
    if (!outcome.changed) return outcome;
    const { generation, complete, removed, ...rest } = outcome;
    const files = complete ? new Map<string, JobFile>() : new Map(held.get(repository)?.files);
    const grows = [...sent.keys()].some((path) => !files.has(path));
    for (const path of removed) files.delete(path);
    for (const [path, file] of sent) files.set(path, file);
    const ordered = grows && !complete ? new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1))) : files;
    held.set(repository, { generation, files: ordered });
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
