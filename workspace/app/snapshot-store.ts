import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { InvalidRequestError, NotFoundError } from "../../model/errors.ts";
import { sha256 } from "../../model/hash.ts";
import { paths } from "../config/paths.ts";

/** Snapshots on disk: one folder each below `.nops/snapshots/` (workspace §15, contract §7). */

export interface Manifest {
  readonly schema_version: "1";
  readonly name: string;
  readonly project: string;
  readonly created_at: string;
  /** Project hash at the time; empty matches everything. */
  readonly config_hash: string;
  readonly services: readonly string[];
  /** Artefacts by name with their SHA-256. */
  readonly files: Readonly<Record<string, string>>;
}

/** Which snapshot was restored last, and when. */
export interface CurrentSnapshot {
  readonly name: string;
  readonly restored_at: string;
}

export const backupFolder = ".pre-restore-backup";
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const reserved = new Set(["current", "snapshot.lock"]);

/** Folder of a snapshot. @throws InvalidRequestError `bad_snapshot_name`. */
export function snapshotFolder(root: string, name: string): string {
  if (!nameForm.test(name) || reserved.has(name)) {
    throw new InvalidRequestError(`"${name}" is no name for a snapshot: letters, digits, dot, hyphen and underscore`, {
      code: "bad_snapshot_name",
    });
  }
  return join(root, paths.snapshots, name);
}

/** All snapshots, oldest first. */
export function listSnapshots(root: string): readonly Manifest[] {
  const folder = join(root, paths.snapshots);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => nameForm.test(name) && existsSync(join(folder, name, "manifest.json")))
    .map((name) => readManifest(root, name))
    .sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
}

/** @throws NotFoundError `unknown_snapshot`. */
export function readManifest(root: string, name: string): Manifest {
  const path = join(snapshotFolder(root, name), "manifest.json");
  if (!existsSync(path)) throw new NotFoundError(`there is no snapshot "${name}"`, { code: "unknown_snapshot" });
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

/** Names of artefacts that are missing or not what the manifest says. */
export function damaged(root: string, manifest: Manifest): readonly string[] {
  const folder = snapshotFolder(root, manifest.name);
  return Object.entries(manifest.files)
    .filter(([file, sum]) => {
      const path = join(folder, file);
      return statSync(path, { throwIfNoEntry: false })?.isFile() !== true || sha256(readFileSync(path)) !== sum;
    })
    .map(([file]) => file);
}

/** The snapshot restored last, if any. */
export function currentSnapshot(root: string): CurrentSnapshot | undefined {
  const path = join(root, paths.snapshots, "current");
  if (!existsSync(path)) return undefined;
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<CurrentSnapshot>;
    return typeof value.name === "string" && typeof value.restored_at === "string"
      ? { name: value.name, restored_at: value.restored_at }
      : undefined;
  } catch {
    return undefined;
  }
}
