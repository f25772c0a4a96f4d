import type { NomadSignal, NomadWatchPort } from "../../controllers/ports.ts";
import type { Clock, Random, Timer } from "../../model/clock.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import type { Simulator } from "../../simulator/server.ts";
import type { Change, Write } from "../../simulator/state/state.ts";
import type { Gate } from "./gate.ts";
import type { SimulatedNomad } from "./nomad-port.ts";

type JobSignal = Extract<NomadSignal, { readonly kind: "job" }>;

/** A list is read again this often, ms: the net under events that were never told. */
const resyncMs = 300_000;
const reconnectMs = 500;

interface Stream {
  readonly namespace: string;
  buffer: JobSignal[];
  delivering: boolean;
  /** Index of the list that was read first; earlier events stand in it. */
  listIndex: number | undefined;
  broken: (() => void) | undefined;
  /** Highest index that this watch, not only this stream, was told of a job or a list. */
  highest: number;
  /** Begins to deliver what has come since. Unknown until the first list. */
  wake: (() => void) | undefined;
}

/**
 * The event stream of the simulator without lines: what `nomad/watch.ts` makes of it. First the stream opens, then the list is read, then
 * come the events that the list does not cover; after a break all begins anew.
 */
export class SimulatedWatch {
  private streams: Stream[] = [];
  private readonly gate: Gate;
  private readonly nomad: SimulatedNomad;
  private readonly random: Random;
  /** Chance that the stream swallows a frame. */
  skip = 0;

  constructor(sim: Simulator, nomad: SimulatedNomad, gate: Gate, random: Random) {
    this.gate = gate;
    this.nomad = nomad;
    this.random = random;
    sim.state.listen((write) => this.written(write));
    sim.state.onRestore(() => this.breakAll());
  }

  /** Every open stream ends, as after a restart of the server. */
  breakAll(): void {
    for (const stream of this.streams.splice(0)) stream.broken?.();
  }

  /** The process that listened is gone. */
  drop(): void {
    this.streams = [];
  }

  /** The port as one process has it. */
  port(clock: Clock): NomadWatchPort {
    return { watch: (namespace, onSignal, abort) => this.watch(namespace, onSignal, abort, clock) };
  }

  private async watch(
    namespace: string,
    onSignal: (signal: NomadSignal) => void,
    abort: AbortSignal,
    clock: Clock,
  ): Promise<void> {
    let current: Stream | undefined;
    abort.addEventListener("abort", () => current?.broken?.(), { once: true });
    while (!abort.aborted) {
      const stream: Stream = {
        namespace,
        buffer: [],
        delivering: false,
        listIndex: undefined,
        broken: undefined,
        highest: current?.highest ?? 0,
        wake: undefined,
      };
      current = stream;
      this.streams.push(stream);
      await this.follow(stream, onSignal, clock);
      this.streams = this.streams.filter((other) => other !== stream);
      if (!abort.aborted) await clock.sleep(reconnectMs, abort).catch(() => undefined);
    }
  }

  private async follow(stream: Stream, onSignal: (signal: NomadSignal) => void, clock: Clock): Promise<void> {
    const over = new Promise<"over">((resolve) => {
      stream.broken = () => resolve("over");
    });
    for (;;) {
      const listed = await Promise.race([over, this.list(stream, onSignal)]);
      if (listed !== "listed") return;
      let timer: Timer | undefined;
      const resync = new Promise<"resync">((resolve) => {
        timer = clock.setTimer(resyncMs, () => resolve("resync"));
      });
      const ended = await Promise.race([over, resync]);
      timer?.cancel();
      if (ended === "over") return;
    }
  }

  private async list(stream: Stream, onSignal: (signal: NomadSignal) => void): Promise<"listed" | "failed"> {
    try {
      const { namespace } = stream;
      const known = stream.highest;
      const { index, jobs } = await this.gate.call("nomad", "listJobs", [namespace], () => this.nomad.listJobs(namespace));
      const wentBack = index < known;
      stream.highest = wentBack ? index : Math.max(stream.highest, index);
      onSignal({ kind: "listed", namespace, jobs, index, wentBack });
      stream.listIndex ??= index;
      this.deliver(stream, onSignal);
      return "listed";
    } catch {
      return "failed";
    }
  }

  /** Events come by themselves as long as the stream stands; each batch is one call of the gate, so that it may come late or never. */
  private deliver(stream: Stream, onSignal: (signal: NomadSignal) => void): void {
    const send = (): void => {
      const batch = stream.buffer.splice(0);
      const first = stream.listIndex ?? 0;
      for (const signal of batch) {
        if (signal.topic === "Job") stream.highest = Math.max(stream.highest, signal.index);
        if (signal.topic !== "Job" || signal.index > first) onSignal(signal);
      }
    };
    const next = (): void => {
      if (stream.buffer.length === 0) {
        stream.delivering = false;
        return;
      }
      stream.delivering = true;
      this.gate.call("watch", "events", [], send).then(next, next);
    };
    stream.wake = next;
    if (!stream.delivering) next();
  }

  private written(write: Write): void {
    if (this.streams.length === 0 || write.changes.length === 0) return;
    if (this.skip > 0 && this.random.next() < this.skip) return;
    const signals = new Map<string, JobSignal>();
    for (const change of write.changes) {
      const signal = signalOf(change, write.index);
      if (signal !== undefined) signals.set(`${signal.topic} ${signal.key}`, signal);
    }
    if (signals.size === 0) return;
    for (const stream of this.streams) {
      for (const signal of signals.values()) if (signal.key.startsWith(`${stream.namespace}/`)) stream.buffer.push(signal);
      if (!stream.delivering && stream.buffer.length > 0) stream.wake?.();
    }
  }
}

function signalOf(change: Change, index: number): JobSignal | undefined {
  switch (change.table) {
    case "jobs": {
      const row = change.after ?? change.before;
      if (row === undefined) return undefined;
      const jobModifyIndex = change.after === undefined ? 0 : row.JobModifyIndex;
      const parent = row.ParentID === "" ? {} : { parentId: row.ParentID };
      return { kind: "job", key: jobKey(row.Namespace, row.ID), index, topic: "Job", jobModifyIndex, ...parent };
    }
    case "allocs":
      return change.after === undefined ? undefined : other("Allocation", change.after, index);
    case "evals":
      return change.after === undefined ? undefined : other("Evaluation", change.after, index);
    case "deployment":
      return change.after === undefined ? undefined : other("Deployment", change.after, index);
    default:
      return undefined;
  }
}

function other(
  topic: "Allocation" | "Evaluation" | "Deployment",
  row: { readonly Namespace: string; readonly JobID: string },
  index: number,
): JobSignal {
  const key: JobKey = jobKey(row.Namespace, row.JobID);
  return { kind: "job", key, index, topic };
}
