import type { NomadSignal, NomadWatchPort } from "../../controllers/ports.ts";
import type { Clock, Random, Timer } from "../../model/clock.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import type { JobStub } from "../../model/nomad.ts";
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
  readonly onSignal: (signal: NomadSignal) => void;
  readonly clock: Clock;
  readonly abort: Pick<AbortController, "signal">;
  buffer: JobSignal[];
  delivering: boolean;
  /** Index of the list that was read first; earlier events stand in it. */
  listIndex: number | undefined;
  /** Highest index that this watch, not only this stream, was told of a job or a list. */
  readonly memory: { highest: number };
  /** Ends it, and lets the process begin another. */
  readonly broken: () => void;
  /** Until the next list. */
  resync: Timer | undefined;
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
    for (const stream of this.streams.splice(0)) this.end(stream);
  }

  /** The process is asked to end: the streams of which it has let go are over. */
  letGo(): void {
    const over = this.streams.filter((stream) => stream.abort.signal.aborted);
    this.streams = this.streams.filter((stream) => !over.includes(stream));
    for (const stream of over) this.end(stream);
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
    abort: Pick<AbortController, "signal">,
    clock: Clock,
  ): Promise<void> {
    const memory = { highest: 0 };
    for (;;) {
      await new Promise<void>((broken) => {
        const empty = { buffer: [], delivering: false, listIndex: undefined, resync: undefined };
        const stream: Stream = { namespace, onSignal, clock, abort, memory, broken, ...empty };
        this.streams.push(stream);
        this.list(stream);
      });
      if (abort.signal.aborted) return;
      await clock.sleep(reconnectMs, abort.signal).catch(() => undefined);
      if (abort.signal.aborted) return;
    }
  }

  private end(stream: Stream): void {
    stream.resync?.cancel();
    stream.broken();
  }

  private list(stream: Stream): void {
    const { namespace, memory } = stream;
    const known = memory.highest;
    this.gate
      .call("nomad", "listJobs", [namespace], () => this.nomad.listJobs(namespace))
      .then(
        ({ index, jobs }) => this.listed(stream, index, jobs, known),
        () => {
          this.streams = this.streams.filter((other) => other !== stream);
          this.end(stream);
        },
      );
  }

  /** `known`: the highest index when the list was asked for. */
  private listed(stream: Stream, index: number, jobs: readonly JobStub[], known: number): void {
    const { namespace, memory } = stream;
    const wentBack = index < known;
    memory.highest = wentBack ? index : Math.max(memory.highest, index);
    stream.onSignal({ kind: "listed", namespace, jobs, index, wentBack });
    stream.listIndex ??= index;
    if (!this.streams.includes(stream)) return;
    stream.resync = stream.clock.setTimer(resyncMs, () => this.list(stream));
    this.deliver(stream);
  }

  /** Events come by themselves as long as the stream stands; each batch is one call of the gate, so that it may come late or never. */
  private deliver(stream: Stream): void {
    if (stream.delivering || stream.listIndex === undefined || stream.buffer.length === 0) return;
    stream.delivering = true;
    const send = (): void => {
      const batch = stream.buffer.splice(0);
      const first = stream.listIndex ?? 0;
      for (const signal of batch) {
        if (signal.topic === "Job") stream.memory.highest = Math.max(stream.memory.highest, signal.index);
        if (signal.topic !== "Job" || signal.index > first) stream.onSignal(signal);
      }
    };
    const next = (): void => {
      stream.delivering = false;
      this.deliver(stream);
    };
    this.gate.call("watch", "events", [], send).then(next, next);
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
      this.deliver(stream);
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
