import type { z } from "zod";
import type { Clock } from "../../model/clock.ts";
import type { Json } from "../../model/nomad.ts";
import type { Values } from "../config/values.ts";
import type { Workspace } from "../config/workspace.ts";
import type { HttpProbe, JobFiles, Prompt, WorkspaceNomad } from "../ports.ts";
import type { ProcessRunner } from "../run/process.ts";

/** What identifies the step's work for those builtins that must not do it twice. */
export interface StepIdentity {
  readonly actionHash: string;
  readonly configHash: string;
  /** `finished_at` of the step's last record, whatever its outcome. */
  readonly recordedAt: string | undefined;
  /** Whether the last record is ok and has the same hash: nothing of the step's own input changed. */
  readonly unchanged: boolean;
  /** With `--force`: when the run began. */
  readonly forcedAt: string | undefined;
}

/** What a step's body may use. */
export interface StepContext {
  readonly workspace: Workspace;
  readonly values: Values;
  /** Environment of child processes. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Connects on first use. */
  readonly nomad: () => Promise<WorkspaceNomad>;
  readonly jobFiles: JobFiles;
  readonly http: HttpProbe;
  readonly prompt: Prompt;
  readonly processes: ProcessRunner;
  /** Confirmations are taken as given. */
  readonly skipConfirm: boolean;
  readonly signal: AbortSignal;
  readonly identity: StepIdentity;
  /** One line of output for people; passes the redactor. */
  readonly print: (line: string) => void;
}

/** A file or environment variable that a builtin reads and that therefore counts for the step's hash (workspace §M4). */
export interface BuiltinInputs {
  /** Paths from the root. */
  readonly files?: readonly string[];
  /** Names of environment variables. */
  readonly env?: readonly string[];
}

/** An in-process function that a step may call. */
export interface Builtin<P = unknown> {
  /** `predicate` and `check` answer yes or no: as a body they run every time. */
  readonly kind: "action" | "predicate" | "check";
  readonly params: z.ZodType<P>;
  /** Asks a person unless confirmations are skipped. */
  readonly prompts?: boolean;
  readonly needsNomad?: boolean;
  /** Only nops itself may place it. */
  readonly engineOnly?: boolean;
  readonly inputs?: (params: P, workspace: Workspace) => BuiltinInputs;
  /** The parameters as they may be shown; default: as they are. */
  readonly shown?: (params: P) => Json;
  /** Does the work. Throws when it fails; a predicate throws with the reason for its no. */
  readonly run: (params: P, context: StepContext) => Promise<void>;
}

/** Keeps the parameter type while the registry forgets it. */
export function builtin<P>(definition: Builtin<P>): Builtin {
  return definition as unknown as Builtin;
}
