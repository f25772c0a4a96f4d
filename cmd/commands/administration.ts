/** Commands on the database itself (design D35): they work also while `nops serve` runs, restore excepted. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Actor } from "../../model/deployment.ts";
import { parseDuration } from "../../model/duration.ts";
import { databasePath, restoreBackup } from "../../store/backup.ts";
import { flockFileLock } from "../../store/lock.ts";
import { openStore, type Store } from "../../store/open.ts";
import { dataDirFromFlags } from "../config/from-flags.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { ago, printJson, table } from "../output.ts";

export interface LocalFlags {
  readonly dataDir?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly since?: string;
  readonly accept?: boolean;
  readonly capability?: readonly string[];
  readonly namespace?: readonly string[];
  readonly ttl?: string;
  readonly owner?: string;
}

// Whoever may open the database file acts as its owner; the log names the system's user.
function localActor(io: CommandIo): Actor {
  const name = io.environment["USER"] ?? io.environment["LOGNAME"] ?? "local";
  return { name, kind: "person", identity: `system:${name}` };
}

async function withStore<T>(flags: LocalFlags, io: CommandIo, use: (store: Store) => Promise<T>): Promise<T> {
  const path = databasePath(resolve(io.workingDirectory, dataDirFromFlags(flags, io)));
  if (!existsSync(path)) {
    throw new CommandError(
      exitCodes.notFound,
      `there is no database ${path}`,
      "--data-dir, NOPS_DATA_DIR or data_dir of nops.yml names the folder; nops serve creates it",
    );
  }
  const store = openStore({ path, clock: io.clock, random: io.random, role: "admin" });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Exit 1 names the first event that is missing, changed or out of place. */
export async function auditVerify(flags: LocalFlags, io: CommandIo): Promise<void> {
  await withStore(flags, io, async (store) => {
    const mark = store.folderMark();
    const report = await store.verifyAudit(mark === undefined ? [] : [mark]);
    if (flags.json) printJson(io, report);
    if (!report.ok)
      throw new CommandError(
        exitCodes.failed,
        `the audit log is broken at event ${report.badSeq}: ${report.problem}`,
        "compare with a backup: nops audit export of both",
      );
    if (!flags.json)
      io.out(`${report.events} events, unbroken from ${report.first} to ${report.head.seq} (${report.head.hash})\n`);
  });
}

export async function auditExport(flags: LocalFlags, io: CommandIo): Promise<void> {
  const since = flags.since === undefined ? undefined : instant(flags.since);
  await withStore(flags, io, async (store) => {
    for (const event of store.exportEvents(since)) io.out(`${JSON.stringify(event)}\n`);
  });
}

function instant(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms))
    throw new CommandError(exitCodes.usage, `--since: "${text}" is not a time`, "for example 2026-01-02T03:04:05Z");
  return new Date(ms).toISOString();
}

export async function backup(file: string, flags: LocalFlags, io: CommandIo): Promise<void> {
  await withStore(flags, io, async (store) => {
    const report = await store.backup(resolve(io.workingDirectory, file));
    if (flags.json) return printJson(io, { file: report.file, bytes: report.bytes, head: report.head });
    io.out(`${report.file}: ${report.bytes} bytes, up to event ${report.head.seq} (${report.head.hash})\n`);
  });
}

/** With a file: puts the backup in place while nops does not run. With --accept: lets nops write again (design D34). */
export async function restore(file: string | undefined, flags: LocalFlags, io: CommandIo): Promise<void> {
  if ((file === undefined) === (flags.accept !== true))
    throw new CommandError(exitCodes.usage, "name a backup file, or pass --accept");
  if (file === undefined) {
    const accepted = await withStore(flags, io, (store) => store.acceptRestored(localActor(io)));
    if (flags.json) return printJson(io, { accepted, restart_needed: accepted });
    io.out(
      accepted
        ? "accepted; restart nops: the one that runs only looks until then\n"
        : "nothing to accept: the database is not a restored one\n",
    );
    return;
  }
  const named = dataDirFromFlags(flags, io);
  const dataDir = resolve(io.workingDirectory, named);
  const report = restoreBackup({
    from: resolve(io.workingDirectory, file),
    dataDir,
    lock: flockFileLock(),
    clock: io.clock,
    random: io.random,
  });
  if (flags.json) printJson(io, { head: report.head, replaced: report.replaced ?? null });
  else
    io.out(
      `restored up to event ${report.head.seq}${report.replaced === undefined ? "" : `; the former database is ${report.replaced}`}\n`,
    );
  io.err(`nops will only look until: nops restore --accept --data-dir ${named}; if it runs by then, restart it after that\n`);
}

/** The secret is printed once, alone on stdout; everything else goes to stderr. */
export async function tokenCreate(name: string, flags: LocalFlags, io: CommandIo): Promise<void> {
  const ttlMs = flags.ttl === undefined ? undefined : parseDuration(flags.ttl);
  if (flags.ttl !== undefined && ttlMs === undefined)
    throw new CommandError(exitCodes.usage, `--ttl: "${flags.ttl}" is not a duration`, "for example 720h");
  await withStore(flags, io, async (store) => {
    const { token, secret } = await store.createToken({
      name,
      capabilities: flags.capability,
      namespaces: flags.namespace,
      ttlMs,
      owner: flags.owner,
      actor: localActor(io),
    });
    if (flags.json) printJson(io, { ...token, secret });
    else io.out(`${secret}\n`);
    io.err(
      `token ${token.id} may ${token.capabilities.join(", ")} in ${token.namespaces.join(", ")}; its secret is not shown again\n`,
    );
  });
}

export async function tokenList(flags: LocalFlags, io: CommandIo): Promise<void> {
  await withStore(flags, io, async (store) => {
    const tokens = await store.listTokens();
    if (flags.json) return printJson(io, { tokens });
    const now = io.clock.now();
    const state = (token: (typeof tokens)[number]): string => {
      if (token.revokedAt !== undefined) return "revoked";
      return token.expiresAt !== undefined && Date.parse(token.expiresAt) <= now ? "expired" : "valid";
    };
    const rows = tokens.map((token) => [
      token.id,
      token.name,
      state(token),
      token.capabilities.join(","),
      token.namespaces.join(","),
      ago(token.lastUsedAt ?? null, now),
      token.expiresAt ?? "never",
    ]);
    io.out(table(["ID", "NAME", "STATE", "CAPABILITIES", "NAMESPACES", "USED", "EXPIRES"], rows));
  });
}

export async function tokenRevoke(id: string, flags: LocalFlags, io: CommandIo): Promise<void> {
  await withStore(flags, io, async (store) => {
    const token = await store.revokeToken(id, localActor(io));
    if (flags.json) return printJson(io, token);
    io.out(`revoked ${token.id} (${token.name})\n`);
  });
}
