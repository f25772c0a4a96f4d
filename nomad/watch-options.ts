import type { Clock, Random } from "../model/clock.ts";
import type { NomadError } from "../model/errors.ts";
import type { Log } from "../model/log.ts";
import type { JobStub } from "../model/nomad.ts";
import type { NomadClient } from "./client.ts";
import type { JobSignal } from "./events.ts";

/** What a watch tells: "look at this", never "this is so" (design D21). Same shape as the controllers' `NomadSignal`. */
export type WatchSignal =
  | JobSignal
  | {
      readonly kind: "listed";
      readonly namespace: string;
      readonly jobs: readonly JobStub[];
      readonly index: number;
      /** Lower than a list or an event before: a restored snapshot or another cluster (nomad-api §17). */
      readonly wentBack: boolean;
    };

/** Whether the stream of a namespace is open, for readiness and metrics. */
export interface WatchState {
  readonly namespace: string;
  readonly connected: boolean;
  /** Why not; `undefined` while connected. */
  readonly error: NomadError | undefined;
}

export interface NomadWatchOptions {
  readonly client: Pick<NomadClient, "transport" | "listJobs">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Milliseconds between lists while the stream is quiet (default 10 minutes). */
  readonly resyncIntervalMs?: number | undefined;
  /** Milliseconds without a whole line after which the stream counts as dead (default 60,000; Nomad's heartbeat is 30 s). */
  readonly silenceMs?: number | undefined;
  /** Bytes of the longest line that is read (default 16 MiB); a longer one is thrown away and a list takes its place. */
  readonly maxLineBytes?: number | undefined;
  /** Milliseconds between lists while there is no stream (default 30,000). */
  readonly pollIntervalMs?: number | undefined;
  readonly onState?: ((state: WatchState) => void) | undefined;
}

/** Options with every default filled in. */
export type WatchSettings = {
  readonly [Name in keyof Omit<NomadWatchOptions, "onState">]-?: NonNullable<NomadWatchOptions[Name]>;
} & Pick<NomadWatchOptions, "onState">;
