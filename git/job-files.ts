import type { CommitFiles } from "../hcl/inline-files.ts";
import type { HclParser } from "../hcl/parser.ts";
import type { FileIssue, JobFile } from "../model/desired.ts";
import { createFileFilter, isNamedAsJob, valuesEnding, valuesFileOf } from "./file-rules.ts";
import { type JobRules, readSharedValues, readValues, type SharedValues } from "./job-rules.ts";
import type { GitLimits } from "./limits.ts";
import type { ObjectStore } from "./objects.ts";
import { type ReadJob, readJob } from "./read-job.ts";
import type { TreeFile, TreeReader } from "./tree.ts";

/** The job files of one commit. */
export interface JobFiles {
  /** In the order of their paths. A file that did not change is the same object as at the commit before. */
  readonly files: readonly JobFile[];
  readonly broken: readonly FileIssue[];
  readonly warnings: readonly FileIssue[];
  /** How many files were read and parsed for this commit. */
  readonly readCount: number;
}

/** A file as it was read last, with all that went into it. */
interface Remembered {
  readonly read: ReadJob;
  readonly oid: string;
  /** Of the values that all files share and of the file beside it. */
  readonly values: string;
  /** Of each path in `read.dependencies`. */
  readonly dependencyIds: readonly (string | undefined)[];
  /** The root's id, when the file asked for a list of files. */
  readonly root: string | undefined;
}

/** A file that has to be read. */
interface Stale {
  readonly file: TreeFile;
  /** The file of values beside it. */
  readonly own: TreeFile | undefined;
  readonly values: string;
}

/** Waiting for the disk one file at a time takes most of the time. */
const readsAtOnce = 32;

/** Reads job files commit by commit; what did not change is neither read nor parsed again. One for each repository. */
export interface JobFileReader {
  /** @throws GitError from the tree and the objects; the signal's reason when it aborts. */
  read(tree: TreeReader, store: ObjectStore, signal: AbortSignal): Promise<JobFiles>;
}

/** @throws InvalidRequestError `invalid_pattern` */
export function createJobFileReader(rules: JobRules, parser: HclParser, limits: GitLimits): JobFileReader {
  const mayHoldJob = createFileFilter(rules);
  let remembered = new Map<string, Remembered>();

  return {
    async read(tree, store, signal) {
      const walked = await tree.walk(rules.path);
      const commit = new CommitContent(tree, store, limits);
      const shared = await readSharedValues(rules, tree, walked.files, parser, (file) => commit.text(file));
      const byPath = new Map(walked.files.map((file) => [file.path, file]));
      const next = new Map<string, Remembered>();
      const stale: Stale[] = [];
      for (const file of walked.files) {
        if (!mayHoldJob(file.path)) continue;
        const own = byPath.get(valuesFileOf(file.path));
        const values = `${shared.fingerprint}\n${own?.oid ?? ""}`;
        const known = remembered.get(file.path);
        if (known !== undefined && (await isUnchanged(known, file, values, tree))) next.set(file.path, known);
        else stale.push({ file, own, values });
      }
      const around = { rules, parser, shared, tree, commit };
      for (let at = 0; at < stale.length; at += readsAtOnce) {
        signal.throwIfAborted();
        const batch = stale.slice(at, at + readsAtOnce);
        const contents = await Promise.all(batch.map(({ file }) => commit.candidate(file)));
        for (const [index, content] of contents.entries()) {
          const entry = batch[index];
          if (entry !== undefined) next.set(entry.file.path, await readFile(entry, content, around));
        }
      }
      remembered = next;
      const inOrder = walked.files.flatMap(({ path }) => next.get(path) ?? []);
      const collected = collect(inOrder, shared);
      const strays = strayValues(walked.files, next, shared);
      return { ...collected, warnings: [...walked.warnings, ...collected.warnings, ...strays], readCount: stale.length };
    },
  };
}

async function isUnchanged(known: Remembered, file: TreeFile, values: string, tree: TreeReader): Promise<boolean> {
  if (known.oid !== file.oid || known.values !== values) return false;
  if (known.root !== undefined && known.root !== tree.root) return false;
  for (const [at, path] of known.read.dependencies.entries()) {
    if ((await fileId(tree, path)) !== known.dependencyIds[at]) return false;
  }
  return true;
}

async function fileId(tree: TreeReader, path: string): Promise<string | undefined> {
  const entry = await tree.find(path);
  return entry?.kind === "file" ? entry.oid : undefined;
}

interface Surroundings {
  readonly rules: JobRules;
  readonly parser: HclParser;
  readonly shared: SharedValues;
  readonly tree: TreeReader;
  readonly commit: CommitContent;
}

async function readFile(
  { file, own: ownFile, values }: Stale,
  content: string | ReadJob,
  around: Surroundings,
): Promise<Remembered> {
  const { rules, parser, shared, tree, commit } = around;
  if (typeof content !== "string") return { read: content, oid: file.oid, values, dependencyIds: [], root: undefined };
  const own = ownFile === undefined ? undefined : await readValues(ownFile, parser, (wanted) => commit.text(wanted));
  // Files are read one by one, but the text is put together at one go: what a try lacks is fetched for the next.
  for (;;) {
    const view = commit.view();
    const read = readJob(content, file.path, { rules, parser, shared, own, commit: view.files });
    if (await commit.load(view)) continue;
    commit.trim();
    const dependencyIds = await Promise.all(read.dependencies.map((path) => fileId(tree, path)));
    return { read, oid: file.oid, values, dependencyIds, root: view.listed ? tree.root : undefined };
  }
}

interface View {
  readonly files: CommitFiles;
  readonly missing: Set<string>;
  listed: boolean;
}

const loadedBytesLimit = 32 * 1024 * 1024;

/** Content of one commit, fetched when somebody asks and kept until the commit has been read. */
class CommitContent {
  readonly #tree: TreeReader;
  readonly #store: ObjectStore;
  readonly #limits: GitLimits;
  readonly #loaded = new Map<string, Uint8Array | undefined>();
  #loadedBytes = 0;
  #paths: readonly string[] | undefined;

  constructor(tree: TreeReader, store: ObjectStore, limits: GitLimits) {
    this.#tree = tree;
    this.#store = store;
    this.#limits = limits;
  }

  /** `undefined` when it is too large or no text. */
  async text(file: TreeFile): Promise<string | undefined> {
    const bytes = await this.#store.read(file.oid, "blob");
    return bytes.length > this.#limits.fileBytes ? undefined : decode(bytes);
  }

  /** The text of a file that may hold a job, or what is to be said instead. */
  async candidate(file: TreeFile): Promise<string | ReadJob> {
    const bytes = await this.#store.read(file.oid, "blob");
    const nothing = { declared: [], dependencies: [] };
    if (bytes.length > this.#limits.fileBytes) {
      const start = bytes.toString("utf8", 0, this.#limits.fileBytes);
      const meant = isNamedAsJob(file.path) || /^[ \t]*job[ \t]+["A-Za-z]/m.test(start);
      const issue: FileIssue = {
        severity: meant ? "error" : "warn",
        file: file.path,
        message: "passed over: it is larger than 1 MiB; make it smaller, or name it under ignore",
      };
      return { ...nothing, outcome: meant ? { kind: "broken", issues: [issue] } : { kind: "passed_over", warning: issue } };
    }
    const text = decode(bytes);
    if (text !== undefined) return text;
    if (!isNamedAsJob(file.path)) return { ...nothing, outcome: { kind: "other" } };
    return {
      ...nothing,
      outcome: { kind: "broken", issues: [{ severity: "error", file: file.path, message: "is no UTF-8 text" }] },
    };
  }

  /** Forgets what is loaded when it has become much. Never between a view and its load. */
  trim(): void {
    if (this.#loadedBytes <= loadedBytesLimit) return;
    this.#loaded.clear();
    this.#loadedBytes = 0;
  }

  /** The commit as far as it is loaded; what is asked for and not loaded is noted down. */
  view(): View {
    const missing = new Set<string>();
    const view: View = {
      missing,
      listed: false,
      files: {
        read: (path) => {
          if (!this.#loaded.has(path)) missing.add(path);
          return this.#loaded.get(path);
        },
        list: () => {
          view.listed = true;
          return this.#paths ?? [];
        },
      },
    };
    return view;
  }

  /** Loads what a view lacked. `false` when it lacked nothing. */
  async load(view: View): Promise<boolean> {
    for (const path of view.missing) {
      const entry = await this.#tree.find(path);
      const bytes = entry?.kind === "file" ? await this.#store.read(entry.oid, "blob") : undefined;
      this.#loaded.set(path, bytes);
      this.#loadedBytes += bytes?.length ?? 0;
    }
    const needsPaths = view.listed && this.#paths === undefined;
    if (needsPaths) this.#paths = (await this.#tree.walk("")).files.map(({ path }) => path);
    return needsPaths || view.missing.size > 0;
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function collect(remembered: readonly Remembered[], shared: SharedValues): Omit<JobFiles, "readCount"> {
  const files: JobFile[] = [];
  const broken: FileIssue[] = [];
  const warnings: FileIssue[] = [...shared.issues];
  const declared = new Set<string>();
  for (const { read: found } of remembered) {
    for (const name of found.declared) declared.add(name);
    if (found.outcome.kind === "job") files.push(found.outcome.job);
    else if (found.outcome.kind === "broken") broken.push(...found.outcome.issues);
    else if (found.outcome.kind === "passed_over") warnings.push(found.outcome.warning);
  }
  for (const { assignments } of files.length === 0 ? [] : shared.sources) {
    for (const { name, range } of assignments) {
      if (declared.has(name) || range === undefined) continue;
      const message = `sets variable "${name}", which no job file declares`;
      warnings.push({ severity: "warn", file: range.filename, line: range.start.line, message });
    }
  }
  return { files, broken, warnings };
}

/** Files of values that belong to no job file: mostly a wrong name. */
function strayValues(
  walked: readonly TreeFile[],
  read: ReadonlyMap<string, Remembered>,
  shared: SharedValues,
): readonly FileIssue[] {
  const owners = new Set(
    [...read].filter(([, { read: found }]) => found.outcome.kind !== "other").map(([path]) => valuesFileOf(path)),
  );
  return walked
    .filter(({ path }) => path.endsWith(valuesEnding) && !owners.has(path) && !shared.paths.has(path))
    .map(({ path }) => ({ severity: "warn", file: path, message: "no job file beside it takes these values" }));
}
