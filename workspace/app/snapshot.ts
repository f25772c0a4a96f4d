import * as fs from "node:fs";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMap, parseDocument } from "yaml";
import { toInstant } from "../../model/clock.ts";
import { InvalidRequestError, NopsError, NotFoundError, RefusedError } from "../../model/errors.ts";
import { makeFolders } from "../../model/folders.ts";
import { sha256 } from "../../model/hash.ts";
import { splitJobKey } from "../../model/job-key.ts";
import { Redactor } from "../../model/redact.ts";
import { projectJobs } from "../cluster/labels.ts";
import { paths } from "../config/paths.ts";
import type { PhaseYaml } from "../config/schema.ts";
import { readIfThere, writeAtomic } from "../journal/file.ts";
import { planDeploy } from "../pipeline/deploy.ts";
import { resolvePipeline } from "../pipeline/resolve.ts";
import { bothLocks, withLocks } from "./locks.ts";
import { perform, pipelineError } from "./perform.ts";
import type { Session } from "./session.ts";
import { backupFolder, currentSnapshot, damaged, type Manifest, readManifest, snapshotFolder } from "./snapshot-store.ts";

/** `nops snapshot`: journal and local settings put aside and brought back (workspace §15, §M8). */

const journalFile = "state.yml";
const localFile = "local.yml";

/** Saves journal, local.yml and, for information, the project's job specs. @throws RefusedError `snapshot_exists`. */
export async function createSnapshot(session: Session, name: string): Promise<Manifest> {
  const { root } = session.host;
  const folder = snapshotFolder(root, name);
  return withLocks(session.host, bothLocks, async () => {
    if (existsSync(folder)) throw new RefusedError(`snapshot "${name}" is already there`, { code: "snapshot_exists" });
    const staging = join(root, paths.snapshots, `.${name}.new`);
    rmSync(staging, { recursive: true, force: true });
    makeFolders(fs, staging, 0o777);
    const files: Record<string, string> = {};
    const put = (file: string, text: string): void => {
      writeAtomic(join(staging, file), text);
      files[file] = sha256(text);
    };
    const journal = session.store.text();
    if (journal !== undefined) put(journalFile, journal);
    const local = readIfThere(join(root, paths.local));
    if (local !== undefined) put(localFile, withoutKeys(local, preserved(session)));
    for (const [file, text] of await jobSpecs(session)) put(file, text);
    await workflow(session, "snapshot-create", session.workspace.snapshot.createPhases);
    const manifest: Manifest = {
      schema_version: "1",
      name,
      project: session.workspace.project,
      created_at: toInstant(session.host.clock.now()),
      config_hash: planDeploy(session.resolve).project.hash,
      services: [...session.workspace.services.keys()],
      files,
    };
    writeAtomic(join(staging, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    renameSync(staging, folder);
    return manifest;
  });
}

async function jobSpecs(session: Session): Promise<readonly (readonly [string, string])[]> {
  if (![...session.workspace.services.values()].some((service) => service.jobFile !== undefined)) return [];
  try {
    const nomad = await session.host.nomad();
    const jobs = await projectJobs(nomad, session.workspace.project);
    const specs = await Promise.all(jobs.map(async (job) => [job.key, await nomad.readJob(job.key)] as const));
    return specs.map(([key, spec]) => {
      const { namespace, jobId } = splitJobKey(key);
      const redactor = new Redactor();
      redactor.learn(key, spec);
      const text = `${JSON.stringify(redactor.value(spec), null, 2)}\n`;
      return [`nomad/jobs/${namespace}_${jobId.replaceAll("/", "_")}.json`, session.values.redactor.redact(text)] as const;
    });
  } catch (error) {
    session.notice(`without the job specs: ${error instanceof Error ? error.message : String(error)}`, "warning");
    return [];
  }
}

/**
 * Puts a snapshot back: the journal byte for byte, never merged; local.yml but for the keys to preserve. What was there is
 * kept for `rollback`. The cluster is touched only by the user's own restore workflow.
 * @throws NopsError `snapshot_damaged`; RefusedError `config_mismatch`, `services_mismatch` by the policies of snapshot.yml.
 */
export async function restoreSnapshot(session: Session, name: string): Promise<void> {
  const { root } = session.host;
  const manifest = readManifest(root, name);
  const broken = damaged(root, manifest);
  if (broken.length > 0) throw new NopsError(`snapshot "${name}" is damaged: ${broken.join(", ")}`, { code: "snapshot_damaged" });
  await withLocks(session.host, bothLocks, async () => {
    checkPolicies(session, manifest);
    backUp(session);
    const folder = snapshotFolder(root, name);
    putBack(session, readIfThere(join(folder, journalFile)), readIfThere(join(folder, localFile)));
    await workflow(session, "snapshot-restore", session.workspace.snapshot.restorePhases);
    const current = { name, restored_at: toInstant(session.host.clock.now()) };
    writeAtomic(join(root, paths.snapshots, "current"), `${JSON.stringify(current)}\n`);
  });
  session.notice(
    `the journal is now that of "${name}"; \`nops deploy run\` does what it lacks, \`nops run\` starts jobs that do not run`,
  );
}

/** Undoes the last restore. @throws NotFoundError `nothing_to_roll_back`. */
export async function rollbackSnapshot(session: Session): Promise<void> {
  const folder = join(session.host.root, paths.snapshots, backupFolder);
  await withLocks(session.host, bothLocks, async () => {
    if (!existsSync(folder)) throw new NotFoundError("there is no restore to roll back", { code: "nothing_to_roll_back" });
    const before = JSON.parse(readFileSync(join(folder, "backup.json"), "utf8")) as {
      journal: boolean;
      local: boolean;
      current: unknown;
    };
    replace(session.store.path, before.journal ? readIfThere(join(folder, journalFile)) : undefined);
    replace(join(session.host.root, paths.local), before.local ? readIfThere(join(folder, localFile)) : undefined);
    replace(
      join(session.host.root, paths.snapshots, "current"),
      before.current === null ? undefined : `${JSON.stringify(before.current)}\n`,
    );
    rmSync(folder, { recursive: true });
  });
}

/** Deletes a snapshot. @throws NotFoundError `unknown_snapshot`. */
export async function removeSnapshot(session: Session, name: string): Promise<void> {
  const { root } = session.host;
  readManifest(root, name);
  await withLocks(session.host, bothLocks, async () => {
    rmSync(snapshotFolder(root, name), { recursive: true });
    if (currentSnapshot(root)?.name === name) rmSync(join(root, paths.snapshots, "current"), { force: true });
  });
}

function checkPolicies(session: Session, manifest: Manifest): void {
  const { snapshot, services, project } = session.workspace;
  if (manifest.project !== project) {
    throw new InvalidRequestError(`snapshot "${manifest.name}" is of project "${manifest.project}"`, { code: "other_project" });
  }
  const hash = planDeploy(session.resolve).project.hash;
  if (snapshot.require_matching_config === true && manifest.config_hash !== "" && manifest.config_hash !== hash) {
    throw new RefusedError("the configuration differs from the snapshot's", { code: "config_mismatch" });
  }
  const unknown = manifest.services.filter((name) => !services.has(name));
  const added = [...services.keys()].filter((name) => !manifest.services.includes(name));
  if (unknown.length + added.length === 0 || snapshot.services_mismatch === "ignore") return;
  const words = `services differ from the snapshot's (gone: ${unknown.join(", ") || "none"}; new: ${added.join(", ") || "none"})`;
  if (snapshot.services_mismatch === "block") throw new RefusedError(words, { code: "services_mismatch" });
  session.notice(words, "warning");
}

function backUp(session: Session): void {
  const { root } = session.host;
  const folder = join(root, paths.snapshots, backupFolder);
  rmSync(folder, { recursive: true, force: true });
  const journal = session.store.text();
  const local = readIfThere(join(root, paths.local));
  if (journal !== undefined) writeAtomic(join(folder, journalFile), journal);
  if (local !== undefined) writeAtomic(join(folder, localFile), local);
  const before = { journal: journal !== undefined, local: local !== undefined, current: currentSnapshot(root) ?? null };
  writeAtomic(join(folder, "backup.json"), `${JSON.stringify(before)}\n`);
}

function putBack(session: Session, journal: string | undefined, local: string | undefined): void {
  replace(session.store.path, journal);
  if (local === undefined) return;
  const path = join(session.host.root, paths.local);
  writeAtomic(path, keepKeys(local, readIfThere(path) ?? "", preserved(session)));
}

function replace(path: string, text: string | undefined): void {
  if (text === undefined) rmSync(path, { force: true });
  else writeAtomic(path, text);
}

function preserved(session: Session): readonly string[] {
  return session.workspace.snapshot.local_yml?.preserve_keys ?? [];
}

/** local.yml without the machine's own keys (dotted paths): they are not the snapshot's business. */
export function withoutKeys(text: string, keys: readonly string[]): string {
  if (keys.length === 0) return text;
  const document = parseDocument(text);
  for (const key of keys) document.deleteIn(key.split("."));
  return document.toString();
}

/** The snapshot's local.yml with the machine's own keys as they are here. */
export function keepKeys(restored: string, here: string, keys: readonly string[]): string {
  if (keys.length === 0) return restored;
  const document = parseDocument(restored);
  const present = parseDocument(here);
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  for (const key of keys) {
    const path = key.split(".");
    if (present.hasIn(path)) document.setIn(path, present.getIn(path));
    else document.deleteIn(path);
  }
  return document.toString();
}

async function workflow(session: Session, name: string, phases: readonly PhaseYaml[]): Promise<void> {
  if (phases.length === 0) return;
  const sources = phases.map((phase) => ({ scope: undefined, phase, file: paths.snapshot, lineOf: () => undefined }));
  const result = await perform(session, { plan: resolvePipeline(session.resolve, { name, log: false, phases: sources }) });
  if (!result.ok) throw pipelineError(result);
}
