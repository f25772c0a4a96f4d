import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { NopsError } from "../../model/errors.ts";
import { projectStatus } from "./aggregate.ts";
import { emitYaml } from "./emit.ts";
import { readIfThere, syncFolder, temporaryName, writeAtomic } from "./file.ts";
import { parseJournal } from "./read.ts";
import { emptyJournal, type Journal, type ScopeRecord } from "./types.ts";

/** Reads and writes the journal of one workspace. Whoever writes holds the deploy lock, except `services enable`'s own. */
export interface JournalStore {
  readonly path: string;
  /** The journal, or an empty one when there is no file. @throws JournalCorruptError for unreadable content. */
  load(): Journal;
  exists(): boolean;
  /** Replaces the file durably. @throws NopsError `no_journal` for null. */
  save(journal: Journal): void;
  /** Loads, changes and saves; writes nothing when `change` says that nothing changed. */
  mutate(change: (journal: Journal) => boolean): boolean;
  /** Deletes the file; no error when there is none. @returns whether there was one. */
  remove(): boolean;
  /** Moves unreadable content to `state.yml.corrupt-<time>`. @returns the new name. */
  setAside(now: number): string;
  /** Removes temporary files that a killed process left. Only under the deploy lock. */
  sweep(): void;
  /** The bytes as they are, or `undefined`. */
  text(): string | undefined;
}

/** How the store reaches the disk; tests inject failures here. */
export type WriteFile = (path: string, text: string) => void;

/** A journal store for the workspace at `root`. */
export function createJournalStore(path: string, write: WriteFile = writeAtomic): JournalStore {
  const load = (): Journal => {
    const text = readIfThere(path);
    return text === undefined ? emptyJournal() : parseJournal(text);
  };
  const save = (journal: Journal): void => {
    if (journal === null || journal === undefined) {
      throw new NopsError("there is no journal to save", { code: "no_journal" });
    }
    write(path, formatJournal(journal));
  };
  return {
    path,
    load,
    save,
    exists: () => readIfThere(path) !== undefined,
    text: () => readIfThere(path),
    mutate(change) {
      const journal = load();
      if (!change(journal)) return false;
      save(journal);
      return true;
    },
    remove() {
      const there = readIfThere(path) !== undefined;
      rmSync(path, { force: true });
      if (there) syncFolder(dirname(path));
      return there;
    },
    sweep() {
      const folder = dirname(path);
      if (!existsSync(folder)) return;
      for (const name of readdirSync(folder)) if (temporaryName.test(name)) rmSync(join(folder, name), { force: true });
    },
    setAside(now) {
      const name = `state.yml.corrupt-${new Date(now).toISOString().replaceAll(/[:.]/g, "-")}`;
      renameSync(path, join(dirname(path), name));
      syncFolder(dirname(path));
      return name;
    },
  };
}

/** The file's text: YAML in the order of the schema. */
export function formatJournal(journal: Journal): string {
  const { schema_version, project, services, pending } = journal;
  const file = {
    schema_version,
    project: inOrder(project),
    services: Object.fromEntries(Object.entries(services).map(([name, service]) => [name, inOrder(service)])),
    ...(pending === undefined ? {} : { pending }),
  };
  return emitYaml(file);
}

/** What people look for first stands first. */
function inOrder(scope: ScopeRecord & { readonly status: string }): Record<string, unknown> {
  const { status, deployed_at, config_hash, last_run, phases, config_inputs } = scope;
  const ordered = { status, deployed_at, config_hash, last_run, phases, config_inputs };
  return Object.fromEntries(Object.entries(ordered).filter(([, value]) => value !== undefined));
}

/**
 * Drops the record of a service and recomputes the project (reset of one service, workspace §13).
 * @returns whether the journal now says nothing at all, so that its file may go.
 */
export function dropService(journal: Journal, name: string, known: ReadonlySet<string> | undefined): boolean {
  delete journal.services[name];
  journal.project.status = projectStatus(journal, known);
  return (
    Object.keys(journal.services).length === 0 &&
    Object.keys(journal.project.phases).length === 0 &&
    journal.pending === undefined
  );
}
