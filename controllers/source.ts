/**
 * The source controller: one key per repository. Brings the index of desired jobs to the head of each branch and says which
 * jobs git now wants otherwise. Owns no trigger.
 *
 * I1. A snapshot takes effect whole or not at all. I2. A commit that loses more than half of the jobs takes no effect until
 * a person accepts it (design D32). I3. What cannot be read leaves the last good state in place (design D36).
 */
import type { Clock, Instant } from "../model/clock.ts";
import { toInstant } from "../model/clock.ts";
import { type Actor, engineActor } from "../model/deployment.ts";
import { type FileIssue, type JobFile, type MetaIssue, metaLineOf, type RepositorySnapshot } from "../model/desired.ts";
import { messageWithHint, NotFoundError } from "../model/errors.ts";
import type { JobKey } from "../model/job-key.ts";
import { type Placed, placed } from "../model/place.ts";
import type { Redactor } from "../model/redact.ts";
import { isMassRemoval } from "../plan/brake.ts";
import { type Pass, type Reconciler, type Result, recheck } from "../queue/reconciler.ts";
import type { DesiredIndex } from "./desired-index.ts";
import { type FileEntry, keysOf, pathOf, type RepositoryContent } from "./file-entry.ts";
import { FileParser, type ParseOutcome, unusablePath } from "./parse-files.ts";
import type { GitPort, NomadPort, SourcePort } from "./ports.ts";
import type { OperatorSettings, RepositorySettings } from "./settings.ts";
import type { RepositoryView } from "./views.ts";

export interface SourceDeps {
  readonly git: GitPort;
  readonly nomad: Pick<NomadPort, "parse">;
  readonly store: SourcePort;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly settings: OperatorSettings;
  readonly desired: DesiredIndex;
  /** Git now says something else about these keys. */
  readonly onChange: (keys: readonly JobKey[]) => Promise<void>;
}

interface State {
  readonly settings: RepositorySettings;
  snapshot: RepositorySnapshot | undefined;
  /** SHA whose content is in the index; differs from `snapshot` while files are postponed or the commit is held. */
  appliedSha: string | undefined;
  lastKeys: Map<string, readonly JobKey[]> | undefined;
  /** The commit for which the last keys are on record. */
  storedSha: string | undefined;
  checkedAt: Instant | undefined;
  error: string | undefined;
  held: { readonly sha: string; readonly message: string } | undefined;
  accept: Actor | undefined;
  warnings: readonly FileIssue[];
}

/** How soon files that Nomad could not be asked about are tried again, ms. */
const postponedRetryMs = 5_000;

export class SourceController implements Reconciler<string> {
  readonly name = "source";
  private readonly deps: SourceDeps;
  private readonly states: Map<string, State>;
  private readonly parser: FileParser;

  constructor(deps: SourceDeps) {
    this.deps = deps;
    this.parser = new FileParser(deps.nomad, deps.settings.concurrency, deps.clock);
    this.states = new Map(deps.settings.repositories.map((settings) => [settings.name, emptyState(settings)]));
  }

  /** Lets the held commit of a repository take effect with the next pass. @throws NotFoundError for a name that is not configured. */
  accept(repository: string, actor: Actor): void {
    this.stateOf(repository).accept = actor;
  }

  async reconcile(repository: string, pass: Pass): Promise<Result> {
    const state = this.stateOf(repository);
    try {
      const problem = await this.look(state, pass);
      const postponed = state.snapshot === undefined ? 0 : await this.take(state, state.snapshot);
      if (problem !== undefined) throw problem;
      state.error = undefined;
      // A word given while nothing was held back must not let a later commit through.
      state.accept = undefined;
      return postponed > 0
        ? recheck(postponedRetryMs, "files to be parsed again")
        : recheck(state.settings.pollIntervalMs, "poll");
    } catch (error) {
      state.error = this.deps.redactor.text(messageWithHint(error));
      throw error;
    }
  }

  /** Repositories whose last look failed. */
  failing(): string[] {
    return [...this.states.values()].filter(({ error }) => error !== undefined).map(({ settings }) => settings.name);
  }

  /** Whether every repository has been read once since the start. */
  get ready(): boolean {
    return [...this.states.values()].every((state) => state.appliedSha !== undefined || state.held !== undefined);
  }

  view(): RepositoryView[] {
    return [...this.states.values()].map((state) => this.viewOf(state));
  }

  private stateOf(repository: string): State {
    const state = this.states.get(repository);
    if (state === undefined) throw new NotFoundError(`no repository is called ${repository}`, { code: "unknown_repository" });
    return state;
  }

  /** Answers with what was wrong when the branch could not be looked at, but there is a snapshot from before the restart. */
  private async look(state: State, pass: Pick<Pass, "signal">): Promise<Error | undefined> {
    const outcome = await this.deps.git.fetch(state.settings.name, state.snapshot?.commit.sha, pass);
    const problem = outcome.changed ? outcome.problem : undefined;
    if (problem === undefined) state.checkedAt = toInstant(this.deps.clock.now());
    if (!outcome.changed) return undefined;
    state.snapshot = outcome.snapshot;
    if (outcome.historyRewritten) {
      const message = `the branch was rewritten: the commit known before is no ancestor of ${outcome.snapshot.commit.sha}`;
      await this.deps.store.recordRepositoryEvent(state.settings.name, "history_rewritten", engineActor, message);
    }
    return problem;
  }

  /** Brings the snapshot into the index. Returns how many files have to be asked about again. */
  private async take(state: State, snapshot: RepositorySnapshot): Promise<number> {
    const { sha } = snapshot.commit;
    const accepting = state.accept;
    if (state.appliedSha === sha || (state.held?.sha === sha && accepting === undefined)) return 0;
    const outcome = await this.parse(state, snapshot);
    const { entries } = outcome;
    if (outcome.postponed > 0 && outcome.postponed === snapshot.files.length && outcome.firstError !== undefined)
      throw outcome.firstError;
    if (await this.holdsBack(state, snapshot, entries, accepting)) return 0;
    await this.saveKeys(state, sha, entries);
    await this.publish(state, snapshot, entries);
    state.appliedSha = outcome.postponed > 0 ? undefined : sha;
    state.held = undefined;
    return outcome.postponed;
  }

  /** Brings what the files declare on record; after a restart at the same commit all of it stands there already. */
  private async saveKeys(state: State, sha: string, entries: readonly FileEntry[]): Promise<void> {
    const known = entries.filter((entry) => entry.kind === "parsed" || entry.keysKnown);
    const keys = new Map(known.map((entry) => [pathOf(entry), keysOf(entry)]));
    if (state.storedSha === sha && sameKeys(keys, state.lastKeys)) return;
    const files = known.map((entry) => ({ file: pathOf(entry), keys: keysOf(entry) }));
    await this.deps.store.saveJobFiles(state.settings.name, sha, files);
    state.lastKeys = keys;
    state.storedSha = sha;
  }

  private async publish(state: State, snapshot: RepositorySnapshot, entries: readonly FileEntry[]): Promise<void> {
    state.warnings = snapshot.warnings;
    const before = this.deps.desired.content(state.settings.name)?.entries ?? [];
    const learned = new Set(before);
    const ownerOf = (entry: FileEntry): string => `git ${state.settings.name} ${pathOf(entry)}`;
    for (const entry of entries)
      if (entry.kind === "parsed" && !learned.has(entry)) this.deps.redactor.learn(ownerOf(entry), entry.spec);
    const content: RepositoryContent = {
      name: state.settings.name,
      commit: snapshot.commit,
      entries,
      issues: this.issuesOf(snapshot, entries),
    };
    const changed = this.deps.desired.replace(content);
    const paths = new Set(entries.map(pathOf));
    // What a broken file held before may still be live.
    for (const entry of before) if (!paths.has(pathOf(entry))) this.deps.redactor.forget(ownerOf(entry));
    const kept = new Set<string>();
    for (const each of this.states.values()) for (const file of each.snapshot?.files ?? []) kept.add(file.contentHash);
    this.parser.keepOnly(kept);
    await this.deps.onChange(changed);
  }

  private async parse(state: State, snapshot: RepositorySnapshot): Promise<ParseOutcome> {
    if (state.lastKeys === undefined) {
      const { commit, files } = await this.deps.store.jobFiles(state.settings.name);
      state.lastKeys = new Map(files.map(({ file, keys }) => [file, keys]));
      state.storedSha = commit;
    }
    const lastKeys = (path: string): readonly JobKey[] | undefined => state.lastKeys?.get(path);
    const { namespaces } = state.settings;
    const allowed =
      namespaces.length === 0
        ? this.deps.settings.namespaces
        : namespaces.filter((name) => this.deps.settings.namespaces.includes(name));
    const outcome = await this.parser.parseAll(snapshot.files, {
      defaults: state.settings.defaults,
      namespaces: allowed,
      parseNamespace: this.deps.settings.namespaces[0] ?? "default",
      lastKeys,
    });
    const broken = new Map(snapshot.broken.map((issue) => [issue.file, issue]));
    const unread = [...broken.values()].map((issue) =>
      unusablePath(issue.file, lastKeys(issue.file), "file_broken", withLine(issue)),
    );
    return { ...outcome, entries: [...outcome.entries, ...unread].map((entry) => this.told(entry)) };
  }

  /** What is wrong with a file is told with its line alone: Nomad has another name for the file. */
  private told(entry: FileEntry): FileEntry {
    if (entry.kind === "parsed") return entry;
    return { ...entry, message: this.deps.redactor.text(withLine(placed(entry.path, entry.message))) };
  }

  /** The brake on a commit that empties a repository. Its jobs stay as the previous commit had them. */
  private async holdsBack(
    state: State,
    snapshot: RepositorySnapshot,
    entries: readonly FileEntry[],
    accepting: Actor | undefined,
  ): Promise<boolean> {
    const before = new Set([...(state.lastKeys?.values() ?? [])].flat());
    const after = new Set(entries.flatMap(keysOf));
    const { sha } = snapshot.commit;
    if (!isMassRemoval(before, after)) return false;
    const lost = [...before].filter((key) => !after.has(key));
    if (accepting !== undefined) {
      await this.deps.store.acceptRemovals(state.settings.name, sha, accepting);
      return false;
    }
    if ((await this.deps.store.acceptedRemovals(state.settings.name)) === sha) return false;
    const message = `commit ${sha.slice(0, 12)} loses ${lost.length} of ${before.size} jobs; the previous state stays until: nops fetch ${state.settings.name} --accept`;
    state.held = { sha, message };
    await this.deps.store.recordRepositoryEvent(state.settings.name, "mass_removal", engineActor, message);
    if (this.deps.desired.content(state.settings.name) === undefined) await this.freezeAll(state, snapshot, before, message);
    return true;
  }

  /** After a restart there is no previous snapshot to keep, so everything that the repository had stands still. */
  private async freezeAll(state: State, snapshot: RepositorySnapshot, keys: ReadonlySet<JobKey>, message: string): Promise<void> {
    const byFile = [...(state.lastKeys ?? new Map<string, readonly JobKey[]>())];
    const entries = byFile.map(
      ([path, declared]): FileEntry => ({
        kind: "unusable",
        path,
        keys: declared.filter((key) => keys.has(key)),
        keysKnown: true,
        reason: "mass_removal",
        message,
      }),
    );
    await this.publish(state, snapshot, entries);
  }

  private issuesOf(snapshot: RepositorySnapshot, entries: readonly FileEntry[]): FileIssue[] {
    const issues: FileIssue[] = [...snapshot.warnings, ...snapshot.broken.filter((issue) => issue.severity === "warn")];
    for (const entry of entries) {
      if (entry.kind === "unusable") {
        issues.push({ severity: "error", file: entry.path, ...placed(entry.path, entry.message) });
        continue;
      }
      issues.push(...entry.file.issues);
      for (const issue of entry.settings.issues) issues.push(metaIssue(entry.file, issue));
    }
    return issues.map((issue) => ({ ...issue, message: this.deps.redactor.text(issue.message) }));
  }

  private viewOf(state: State): RepositoryView {
    const content = this.deps.desired.content(state.settings.name);
    const commit = content?.commit;
    return {
      name: state.settings.name,
      commitSha: commit?.sha,
      commitSubject: commit?.subject,
      commitAuthor: commit?.author,
      committedAt: commit?.committedAt,
      checkedAt: state.checkedAt,
      error: state.error,
      managedJobs: new Set(content?.entries.filter(mayBeManaged).flatMap(keysOf)).size,
      files: content?.entries.length ?? 0,
      issues: content?.issues ?? [],
      heldCommit: state.held?.sha,
      heldMessage: state.held?.message,
      removalsSuspended: this.deps.desired.isSuspended(state.settings.name),
    };
  }
}

/** A file that cannot be judged keeps the jobs that it declared last (design D11). */
function mayBeManaged(entry: FileEntry): boolean {
  return entry.kind !== "parsed" || entry.settings.managed;
}

function metaIssue(file: JobFile, { severity, key, message }: MetaIssue): FileIssue {
  const line = metaLineOf(file, key);
  return { severity, file: file.path, ...(line === undefined ? {} : { line }), message: `${key}: ${message}` };
}

function withLine(issue: Placed): string {
  return issue.line === undefined ? issue.message : `line ${issue.line}: ${issue.message}`;
}

function emptyState(settings: RepositorySettings): State {
  return {
    settings,
    snapshot: undefined,
    appliedSha: undefined,
    lastKeys: undefined,
    storedSha: undefined,
    checkedAt: undefined,
    error: undefined,
    held: undefined,
    accept: undefined,
    warnings: [],
  };
}

function sameKeys(
  keys: ReadonlyMap<string, readonly JobKey[]>,
  others: ReadonlyMap<string, readonly JobKey[]> | undefined,
): boolean {
  if (keys.size !== others?.size) return false;
  return [...keys].every(([file, own]) => {
    const other = others.get(file);
    return other !== undefined && own.length === other.length && own.every((key) => other.includes(key));
  });
}
