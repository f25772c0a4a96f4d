import { posix } from "node:path";
import type { FileIssue } from "../model/desired.ts";
import { nameProblem } from "./entry-name.ts";
import { GitError, quoteRemote } from "./git-error.ts";
import type { GitLimits } from "./limits.ts";
import type { ObjectStore } from "./objects.ts";

export type EntryKind = "file" | "folder" | "symlink" | "submodule";

export interface TreeEntry {
  readonly name: string;
  readonly kind: EntryKind;
  readonly oid: string;
}

export interface TreeFile {
  /** From the repository's root. */
  readonly path: string;
  readonly oid: string;
}

interface Folder {
  readonly entries: readonly TreeEntry[];
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}

const kinds: Readonly<Record<string, EntryKind>> = {
  "40000": "folder",
  "040000": "folder",
  "100644": "file",
  "100664": "file",
  "100755": "file",
  "120000": "symlink",
  "160000": "submodule",
};

/** Reads a tree object. Entries that cannot be trusted are set apart; only a broken structure fails. @throws RangeError */
export function parseTree(bytes: Buffer): Folder {
  const entries: TreeEntry[] = [];
  const refused: { name: string; why: string }[] = [];
  const names = new Set<string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, at);
    if (space < 0 || end < space || end + 21 > bytes.length) throw new RangeError("an entry is cut short");
    const kind = kinds[bytes.toString("latin1", at, space)];
    const name = bytes.toString("utf8", space + 1, end);
    const oid = bytes.toString("hex", end + 1, end + 21);
    at = end + 21;
    const problem = nameProblem(name);
    const why = problem === undefined ? entryProblem(names.has(name), kind) : `its name cannot be trusted: ${problem}`;
    names.add(name);
    if (why !== undefined || kind === undefined) refused.push({ name: quoteRemote(name), why: why ?? "" });
    else entries.push({ name, kind, oid });
  }
  return { entries, refused };
}

interface Walk {
  readonly files: TreeFile[];
  readonly warnings: FileIssue[];
  passedOver: number;
  /** Files and folders visited, each as often as it was met. */
  entries: number;
}

function entryProblem(isTwice: boolean, kind: EntryKind | undefined): string | undefined {
  if (isTwice) return "it is there twice";
  return kind === undefined ? "its mode is unknown" : undefined;
}

/** Most warnings about one commit: a repository full of symlinks must not drown the rest. */
const warningLimit = 100;

/**
 * The tree of one commit. Folders are read once; those that an earlier commit's reader has are taken from it, so that a new
 * commit costs only its changed folders.
 */
export class TreeReader {
  readonly #store: ObjectStore;
  /** Id of the root folder. */
  readonly root: string;
  readonly #limits: GitLimits;
  readonly #folders = new Map<string, Folder>();
  #previous: ReadonlyMap<string, Folder>;

  constructor(store: ObjectStore, root: string, limits: GitLimits, previous?: TreeReader) {
    this.#store = store;
    this.root = root;
    this.#limits = limits;
    this.#previous = previous?.folders ?? new Map();
  }

  protected get folders(): ReadonlyMap<string, Folder> {
    return this.#folders;
  }

  /** Lets the earlier commit's folders go. Call when this commit has been read. */
  release(): void {
    this.#previous = new Map();
  }

  /** What stands at a normalised path, `""` being the root. Nothing behind a symlink or submodule is ever found. */
  async find(path: string): Promise<TreeEntry | undefined> {
    let entry: TreeEntry = { name: "", kind: "folder", oid: this.root };
    if (path === "") return entry;
    for (const part of path.split("/")) {
      if (entry.kind !== "folder") return undefined;
      const next: TreeEntry | undefined = (await this.#folder(entry.oid)).entries.find(({ name }) => name === part);
      if (next === undefined) return undefined;
      entry = next;
    }
    return entry;
  }

  /**
   * All plain files below a folder in the order of their paths, and a warning for each entry that was passed over.
   *
   * @throws GitError `path_missing` when the folder is not there: that must never look like a removal of all jobs (operator §6.8).
   */
  async walk(path: string): Promise<{ readonly files: readonly TreeFile[]; readonly warnings: readonly FileIssue[] }> {
    const start = await this.find(path);
    if (start?.kind !== "folder") {
      const why = start === undefined ? "does not exist" : `is a ${start.kind}, not a folder`;
      throw new GitError("path_missing", `the configured path "${path}" ${why} in the commit`, "check path in the configuration");
    }
    const walk: Walk = { files: [], warnings: [], passedOver: 0, entries: 0 };
    await this.#walkFolder(start.oid, path, 1, walk);
    const { files, warnings, passedOver } = walk;
    if (passedOver > warningLimit) {
      warnings.push({ severity: "warn", file: path, message: `${passedOver - warningLimit} more entries were passed over` });
    }
    return { files, warnings };
  }

  async #walkFolder(oid: string, path: string, depth: number, walk: Walk): Promise<void> {
    const folder = await this.#folder(oid);
    const passOver = (file: string, why: string) => {
      if (++walk.passedOver <= warningLimit) walk.warnings.push({ severity: "warn", file, message: `passed over: ${why}` });
    };
    // A few kilobytes can unfold to billions of files, or of empty folders: each visit counts.
    walk.entries += folder.entries.length;
    if (walk.entries > this.#limits.files) {
      throw new GitError(
        "too_large",
        `the commit has more than ${this.#limits.files} files and folders`,
        "set path to the folder with the jobs",
      );
    }
    for (const { name, why } of folder.refused) passOver(posix.join(path, JSON.stringify(name)), why);
    for (const entry of folder.entries) {
      const entryPath = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.kind === "symlink") passOver(entryPath, "it is a symlink, and nops follows none");
      else if (entry.kind === "submodule")
        passOver(entryPath, "it is a submodule; name its repository in the configuration instead");
      else if (entry.kind === "file") walk.files.push({ path: entryPath, oid: entry.oid });
      else if (depth >= this.#limits.depth) passOver(entryPath, `it lies deeper than ${this.#limits.depth} folders`);
      else await this.#walkFolder(entry.oid, entryPath, depth + 1, walk);
    }
  }

  async #folder(oid: string): Promise<Folder> {
    const known = this.#folders.get(oid) ?? this.#previous.get(oid);
    const folder = known ?? (await this.#read(oid));
    this.#folders.set(oid, folder);
    return folder;
  }

  async #read(oid: string): Promise<Folder> {
    const bytes = await this.#store.read(oid, "tree");
    try {
      return parseTree(bytes);
    } catch {
      throw new GitError("damaged", `tree ${oid} is damaged`);
    }
  }
}

/**
 * Normalises a path of the configuration or of a `file()` call, relative to `folder`. `undefined` when it leaves the repository
 * or is absolute.
 */
export function resolveInRepository(folder: string, path: string): string | undefined {
  if (path.startsWith("/") || path.includes("\\") || /\p{Cc}/u.test(path)) return undefined;
  const normal = posix.normalize(posix.join(folder === "" ? "." : folder, path)).replace(/\/$/, "");
  if (normal === ".." || normal.startsWith("../")) return undefined;
  return normal === "." ? "" : normal;
}
