import type { Clock } from "../../model/clock.ts";
import type { FileLock } from "../../model/lock.ts";
import type { Json } from "../../model/nomad.ts";
import type { HttpProbe, JobFiles, Prompt, WorkspaceNomad } from "../ports.ts";
import type { EventSink } from "../run/events.ts";
import type { SelfCommand } from "../run/execute.ts";
import type { ProcessRunner } from "../run/process.ts";

/** Everything around a workspace command; made by `cmd/workspace/` from the process, or by tests. */
export interface Host {
  /** Absolute path of the workspace. */
  readonly root: string;
  /** Of nops. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `${host.…}` refers to. */
  readonly facts: Readonly<Record<string, Json>>;
  readonly parallelism: number;
  readonly clock: Clock;
  readonly lock: FileLock;
  /** Connects on first use, to a region other than the agent's own when one is named. */
  readonly nomad: (region?: string) => Promise<WorkspaceNomad>;
  readonly jobFiles: JobFiles;
  readonly http: HttpProbe;
  readonly processes: ProcessRunner;
  readonly self: SelfCommand;
  readonly prompt: Prompt;
  /** `-y`: every confirmation is taken as given. */
  readonly assumeYes: boolean;
  readonly signal: AbortSignal;
  readonly sink: EventSink;
}
