import { resolve } from "node:path";
import { flockFileLock } from "../../store/lock.ts";
import { bothLocks, withLocks } from "../../workspace/app/locks.ts";
import { recallUnchanged } from "../../workspace/app/unchanged.ts";
import { findRoot } from "../../workspace/config/root.ts";
import { upToDate } from "../../workspace/run/format.ts";
import type { CommandIo } from "../io.ts";
import { version } from "../version.ts";
import { hostFacts } from "./facts.ts";

interface Flags {
  readonly workspace?: string;
  readonly service?: string;
  readonly force?: boolean;
  readonly resume?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/**
 * The short way of `nops deploy run`: says that nothing has to be done where that is known without loading the workspace.
 * The locks are taken as always. @returns whether the command is done.
 */
export async function nothingToDo(flags: Flags, io: CommandIo): Promise<boolean> {
  if (flags.service !== undefined || flags.force === true || flags.verbose === true) return false;
  const root = findRoot(resolve(io.workingDirectory, flags.workspace ?? "."));
  const around = { root, env: io.environment, facts: hostFacts(), version };
  if (recallUnchanged(around) === undefined) return false;
  const notices = await withLocks({ root, lock: flockFileLock() }, bothLocks, async () => recallUnchanged(around));
  if (notices === undefined) return false;
  if (flags.json === true) {
    const counts = { executed: 0, revalidated: 0, skipped: 0, failed: 0 };
    const at = new Date(io.clock.now()).toISOString();
    io.out(`${JSON.stringify({ event: "run_finished", ok: true, up_to_date: true, counts, duration_ms: 0, at })}\n`);
    return true;
  }
  for (const notice of notices) io.err(`${notice}\n`);
  io.out(`${upToDate}\n`);
  return true;
}
