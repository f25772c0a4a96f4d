/** The data folder, the database and every file the configuration names. */
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf, NopsError } from "../../model/errors.ts";
import { databasePath } from "../../store/backup.ts";
import { openStore } from "../../store/open.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

// File system magic numbers of network file systems, on which SQLite's locks cannot be trusted.
const networkFileSystems: Readonly<Record<number, string>> = {
  26985: "NFS",
  4283649346: "CIFS",
  4266872130: "SMB2",
  20859: "SMB",
  1702057286: "FUSE",
};
const littleSpaceBytes = 256 * 1024 * 1024;

export async function checkFiles(config: Config, io: CommandIo): Promise<readonly Finding[]> {
  const dataDir = resolve(io.workingDirectory, config.data_dir);
  return [
    ...checkDataDir(dataDir),
    ...(await checkDatabase(dataDir, io)),
    ...namedFiles(config).flatMap(([key, path]) => checkNamedFile(key, resolve(io.workingDirectory, path))),
  ];
}

function checkDataDir(dataDir: string): Finding[] {
  const existing = nearestExisting(dataDir);
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    return [
      fail("data", `${existing} cannot be written`, "make it writable for the user nops runs as, or choose another data_dir"),
    ];
  }
  const findings: Finding[] = [];
  const fs = statfsSync(existing);
  const network = networkFileSystems[fs.type];
  if (network !== undefined)
    findings.push(fail("data", `${dataDir} is on a network file system (${network})`, "put data_dir on a local disk"));
  const free = fs.bavail * fs.bsize;
  if (free < littleSpaceBytes)
    findings.push(warn("data", `only ${Math.round(free / 1024 / 1024)} MiB are free at ${dataDir}`, "make room"));
  if (existsSync(dataDir) && (statSync(dataDir).mode & 0o077) !== 0) {
    findings.push(fail("data", `${dataDir} is open to other users`, `chmod 700 ${dataDir}`));
  }
  return findings.length > 0 ? findings : [ok("data", `${dataDir} is writable, local and private`)];
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

async function checkDatabase(dataDir: string, io: CommandIo): Promise<Finding[]> {
  const path = databasePath(dataDir);
  if (!existsSync(path)) return [ok("database", "none yet; nops serve creates it")];
  try {
    const store = openStore({ path, clock: io.clock, random: io.random, role: "admin" });
    try {
      const restored = await store.restored();
      if (restored !== undefined) return [warn("database", restored.message, `nops restore --accept --data-dir ${dataDir}`)];
      const head = await store.auditHead();
      return [ok("database", `readable, write-ahead log, full synchronisation, ${head.seq} events`)];
    } finally {
      await store.close();
    }
  } catch (error) {
    const hint = error instanceof NopsError ? error.hint : undefined;
    return [fail("database", messageOf(error), hint ?? "restore a backup: nops restore FILE")];
  }
}

function namedFiles(config: Config): (readonly [string, string])[] {
  const repositoryKeys = [
    "token_file",
    "ssh_key_file",
    "known_hosts_file",
    "allowed_signers_file",
    "webhook_secret_file",
  ] as const;
  const named: (readonly [string, string | undefined])[] = [
    ["nomad.token_file", config.nomad.token_file],
    ["nomad.ca_cert", config.nomad.ca_cert],
    ["nomad.client_cert", config.nomad.client_cert],
    ["nomad.client_key", config.nomad.client_key],
    ["auth.bootstrap_token_file", config.auth.bootstrap_token_file],
    ["auth.oidc.client_secret_file", config.auth.oidc.client_secret_file],
    ["auth.local.users_file", config.auth.local.users_file],
    ["http.metrics_token_file", config.http.metrics_token_file],
    ...config.repositories.flatMap((repository) =>
      repositoryKeys.map((key) => [`repositories.${repository.name}.${key}`, repository[key]] as const),
    ),
    ...config.notifications.flatMap((receiver, index) => [
      [`notifications.${index}.url_file`, receiver.url_file] as const,
      [`notifications.${index}.token_file`, receiver.token_file] as const,
    ]),
  ];
  return named.flatMap(([key, path]) => (path === undefined ? [] : [[key, path] as const]));
}

/** Secrets must be readable for us and closed to everybody else; certificates and known hosts may be public. */
function checkNamedFile(key: string, path: string): Finding[] {
  try {
    accessSync(path, constants.R_OK);
    const { mode, size } = statSync(path);
    if (size === 0) return [fail("files", `${key}: ${path} is empty`, "write the value into it")];
    const isPublic = /ca_cert|client_cert|known_hosts|allowed_signers/.test(key);
    if (!isPublic && (mode & 0o007) !== 0)
      return [warn("files", `${key}: ${path} can be read by every user`, `chmod 600 ${path}`)];
    return [ok("files", `${key}: ${path}`)];
  } catch (error) {
    return [
      fail(
        "files",
        `${key}: ${path}: ${(error as NodeJS.ErrnoException).code ?? "cannot be read"}`,
        "create it, or correct the path",
      ),
    ];
  }
}
