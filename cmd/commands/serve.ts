/** `nops serve`: runs the operator until it is told to stop. A second one on the same database stands by (design D17). */
import * as fs from "node:fs";
import { resolve } from "node:path";
import { Hono } from "hono";
import { type Listening, listen } from "../../api/listen.ts";
import { messageOf, NopsError } from "../../model/errors.ts";
import { makeFolders } from "../../model/folders.ts";
import type { HeldLock } from "../../model/lock.ts";
import type { Log } from "../../model/log.ts";
import { lockPath } from "../../store/backup.ts";
import { flockFileLock } from "../../store/lock.ts";
import { configFromFlags } from "../config/from-flags.ts";
import type { Config } from "../config/schema.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { version } from "../version.ts";
import { createTelemetry, splitListen, startNops } from "../wire.ts";

export interface ServeFlags {
  readonly readOnly?: boolean;
}

const standbyPollMs = 1_000;
/** Passes under way get this long; Nomad kills a task 30 s after it asked, by the job we ship. */
const graceMs = 20_000;

export async function serve(flags: ServeFlags, io: CommandIo): Promise<void> {
  const config = configFromFlags(flags as Readonly<Record<string, unknown>>, io);
  const { log, redactor } = createTelemetry(config, io);
  createDataDir(resolve(io.workingDirectory, config.data_dir));
  const lock = await waitForLock(config, io, log);
  if (lock === undefined) return;
  try {
    const nops = await startNops({ config, io, log, redactor, readOnly: flags.readOnly ?? false });
    log.info("nops is running", { address: nops.address, version, read_only: flags.readOnly ?? false });
    const cause = await Promise.race([nops.broken, interrupted(io.interrupted)]);
    log.info("nops is stopping", { cause: messageOf(cause) });
    await nops.stop(graceMs);
    if (!io.interrupted.aborted)
      throw new CommandError(
        exitCodes.failed,
        `the database cannot be written any more: ${messageOf(cause)}`,
        `nops stops so that nothing is done unrecorded; ${(cause instanceof NopsError ? cause.hint : undefined) ?? "check the disk"}`,
      );
    log.info("nops stopped");
  } finally {
    lock.release();
  }
}

/** Private from its first moment: it will hold the database and with it what jobs keep secret. */
function createDataDir(folder: string): void {
  try {
    makeFolders(fs, folder, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      exitCodes.usage,
      `cannot create the data folder ${folder}: ${code}`,
      "choose another with --data-dir, or make its parent writable",
    );
  }
}

function interrupted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolvePromise) => {
    if (signal.aborted) resolvePromise(signal.reason);
    else signal.addEventListener("abort", () => resolvePromise(signal.reason), { once: true });
  });
}

/** The lock of the data folder, waited for as a standby; `undefined` when told to stop first. */
async function waitForLock(config: Config, io: CommandIo, log: Log): Promise<HeldLock | undefined> {
  const path = lockPath(resolve(io.workingDirectory, config.data_dir));
  const lock = flockFileLock();
  const first = lock.acquire(path);
  if (first.held) return first.lock;
  const holder = first.holder.pid === undefined ? "another nops" : `process ${first.holder.pid}`;
  log.warn("another nops holds the database: this one stands by", { holder, lock: path });
  const standby = await listenAsStandby(config, holder, log);
  try {
    while (!io.interrupted.aborted) {
      await io.clock.sleep(standbyPollMs, io.interrupted).catch(() => undefined);
      if (io.interrupted.aborted) return undefined;
      const outcome = lock.acquire(path);
      if (outcome.held) {
        log.info("the database is free: this nops takes over", { former: outcome.stalePid });
        return outcome.lock;
      }
    }
    return undefined;
  } finally {
    await standby?.close(1_000);
  }
}

/** Alive, not ready, and says so. On the same address as the active one there is nothing to listen on yet. */
async function listenAsStandby(config: Config, holder: string, log: Log): Promise<Listening | undefined> {
  const app = new Hono();
  app.get("/healthz", (context) => context.text(`ok ${version} standby\n`));
  app.get("/readyz", (context) => context.json({ ready: false, reasons: { standby: `${holder} holds the database` } }, 503));
  app.get("/version", (context) => context.json({ version }));
  app.all("*", (context) =>
    context.json(
      { error: { code: "standby", message: `this nops stands by: ${holder} holds the database`, hint: "ask the active one" } },
      503,
    ),
  );
  const { host, port } = splitListen(config.http.listen);
  try {
    return await listen(app, host, port);
  } catch (error) {
    log.warn("the standby cannot listen yet", { cause: messageOf(error) });
    return undefined;
  }
}
