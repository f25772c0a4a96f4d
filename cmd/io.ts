/** The process around a command: handed in, so that commands run in tests without one. Only `cmd/nops.ts` makes the real one. */
import type { Clock, Random } from "../model/clock.ts";

export interface CommandIo {
  /** Data for the next program. */
  readonly out: (text: string) => void;
  /** Everything for a person: questions, progress, warnings, diffs to confirm. */
  readonly err: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Whether a person can answer questions. */
  readonly interactive: boolean;
  /** Whether stdout and stderr take colours. */
  readonly colour: { readonly out: boolean; readonly err: boolean };
  /** Asks yes or no; only called when `interactive`. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** A secret typed unseen at the terminal, or all of stdin when nobody can type. */
  readonly readSecret: (question: string) => Promise<string>;
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly interrupted: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
}
