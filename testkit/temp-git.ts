import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import git from "isomorphic-git";
import { openObjects } from "./git-objects.ts";
import { type GitServer, type GitServerOptions, serveGit } from "./git-server.ts";

/** A file's new content; `null` removes the file, a mode other than that of a plain file makes a symlink or a submodule. */
export type TempFile =
  | string
  | Uint8Array
  | null
  | { readonly mode: "100755" | "120000"; readonly content: string }
  | { readonly mode: "160000"; readonly oid: string };

export interface TempCommit {
  /** Changes by path; all other files stay as they are in the head of the branch. */
  readonly files?: Readonly<Record<string, TempFile>>;
  /** Forgets all files of the head first. */
  readonly replace?: boolean;
  readonly message?: string;
  readonly author?: { readonly name: string; readonly email: string };
  /** Seconds since the epoch; by default a fixed start plus one for each commit, so that ids repeat from run to run. */
  readonly timestamp?: number;
  /** Other parents than the head of the branch; an empty list starts a new history. */
  readonly parents?: readonly string[];
  /** A tree to commit as it is, instead of one made from files. */
  readonly tree?: string;
  readonly branch?: string;
}

/** A throw-away repository. It needs no git program and reads no configuration of the machine. */
export interface TempRepository {
  /** The repository's folder: the work tree, or for a bare one the git directory itself. */
  readonly dir: string;
  readonly gitdir: string;
  /** `file://` URL of `dir`. */
  readonly url: string;
  /** Commits and returns the commit's id. */
  commit(commit: TempCommit): Promise<string>;
  /** Moves a branch to any commit, as a forced push does; `undefined` deletes it. */
  moveBranch(branch: string, sha: string | undefined): Promise<void>;
  head(branch?: string): Promise<string>;
  /** Content of a commit object. */
  readCommit(sha: string): Promise<string>;
  /** Writes any object unchecked, for crafted repositories. */
  writeObject(type: "blob" | "tree" | "commit" | "tag", content: string | Uint8Array): Promise<string>;
  /** Serves the repository by smart HTTP on loopback until `close` or `remove`. */
  serveHttp(options?: GitServerOptions): Promise<GitServer>;
  remove(): Promise<void>;
}

/** Content of a tree object with these entries in this order, whatever they are. */
export function rawTree(
  entries: readonly { readonly mode: string; readonly name: string | Uint8Array; readonly oid: string }[],
): Buffer {
  return Buffer.concat(
    entries.map(({ mode, name, oid }) =>
      Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.alloc(1), Buffer.from(oid, "hex")]),
    ),
  );
}

interface Entry {
  readonly mode: string;
  readonly oid: string;
}

/** 1 January 2026. */
const firstTimestamp = 1_767_225_600;

/**
 * Makes an empty repository in a new folder under the system's temporary folder, branch `main`.
 * The caller must `remove()` it.
 */
export async function createTempRepository(options: { readonly bare?: boolean } = {}): Promise<TempRepository> {
  const bare = options.bare ?? false;
  const dir = await mkdtemp(join(tmpdir(), "nops-git-"));
  const gitdir = bare ? dir : join(dir, ".git");
  await git.init(bare ? { fs, gitdir, bare: true, defaultBranch: "main" } : { fs, dir, defaultBranch: "main" });
  return new Repository(dir, gitdir, bare);
}

/** Methods are bound, so that `remove` can be handed on as it is. */
class Repository implements TempRepository {
  readonly dir: string;
  readonly gitdir: string;
  readonly url: string;
  readonly #bare: boolean;
  readonly #files = new Map<string, ReadonlyMap<string, Entry>>();
  readonly #written = new Set<string>();
  readonly #servers: GitServer[] = [];
  #commits = 0;

  constructor(dir: string, gitdir: string, bare: boolean) {
    this.dir = dir;
    this.gitdir = gitdir;
    this.url = pathToFileURL(dir).href;
    this.#bare = bare;
  }

  readonly commit = async (input: TempCommit): Promise<string> => {
    const branch = input.branch ?? "main";
    const parents =
      input.parents ??
      (await this.head(branch).then(
        (sha) => [sha],
        () => [],
      ));
    const tree = new Map(input.replace === true ? [] : (this.#files.get(parents[0] ?? "") ?? []));
    for (const [path, file] of Object.entries(input.files ?? {})) await this.#applyFile(tree, path, file);
    const person = input.author ?? { name: "Test Author", email: "author@example.com" };
    const stamp = `${person.name} <${person.email}> ${input.timestamp ?? firstTimestamp + this.#commits++} +0000`;
    const treeId = input.tree ?? (await this.#writeTree(tree));
    const lines = [`tree ${treeId}`, ...parents.map((sha) => `parent ${sha}`), `author ${stamp}`, `committer ${stamp}`];
    const sha = await this.writeObject("commit", `${lines.join("\n")}\n\n${input.message ?? "Change files"}\n`);
    this.#files.set(sha, tree);
    await this.moveBranch(branch, sha);
    return sha;
  };

  readonly moveBranch = async (branch: string, sha: string | undefined): Promise<void> => {
    const path = join(this.gitdir, "refs", "heads", branch);
    if (sha === undefined) return rm(path);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${sha}\n`);
  };

  readonly head = async (branch = "main"): Promise<string> => {
    return (await readFile(join(this.gitdir, "refs", "heads", branch), "utf8")).trim();
  };

  // Written here and not by isomorphic-git: it checks what crafted repositories need unchecked, and takes 1 ms an object.
  readonly writeObject = async (type: string, content: string | Uint8Array): Promise<string> => {
    const body = Buffer.from(content);
    const object = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
    const oid = createHash("sha1").update(object).digest("hex");
    if (this.#written.has(oid)) return oid;
    this.#written.add(oid);
    const folder = join(this.gitdir, "objects", oid.slice(0, 2));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, oid.slice(2)), deflateSync(object, { level: 1 }));
    return oid;
  };

  readonly serveHttp = async (options: GitServerOptions = {}): Promise<GitServer> => {
    const server = await serveGit(openObjects(this.gitdir), options);
    this.#servers.push(server);
    return server;
  };

  readonly readCommit = async (sha: string): Promise<string> => {
    const { object } = await git.readObject({ fs, gitdir: this.gitdir, oid: sha, format: "content" });
    return Buffer.from(object as Uint8Array).toString("utf8");
  };

  readonly remove = async (): Promise<void> => {
    for (const server of this.#servers) await server.close();
    await rm(this.dir, { recursive: true, force: true });
  };

  async #writeTree(entries: ReadonlyMap<string, Entry>): Promise<string> {
    const children = new Map<string, Map<string, Entry>>();
    const own: { mode: string; name: string; oid: string }[] = [];
    for (const [path, entry] of entries) {
      const slash = path.indexOf("/");
      if (slash < 0) own.push({ ...entry, name: path });
      else {
        const folder = path.slice(0, slash);
        const child = children.get(folder) ?? new Map<string, Entry>();
        children.set(folder, child.set(path.slice(slash + 1), entry));
      }
    }
    for (const [name, child] of children) own.push({ mode: "40000", name, oid: await this.#writeTree(child) });
    const order = (entry: { mode: string; name: string }) => Buffer.from(entry.mode === "40000" ? `${entry.name}/` : entry.name);
    own.sort((left, right) => Buffer.compare(order(left), order(right)));
    return this.writeObject("tree", rawTree(own));
  }

  async #applyFile(tree: Map<string, Entry>, path: string, file: TempFile): Promise<void> {
    const isPlain = typeof file === "string" || file instanceof Uint8Array;
    if (file === null) tree.delete(path);
    else if (isPlain) tree.set(path, { mode: "100644", oid: await this.writeObject("blob", file) });
    else if ("oid" in file) tree.set(path, file);
    else tree.set(path, { mode: file.mode, oid: await this.writeObject("blob", file.content) });
    if (this.#bare) return;
    if (file === null) await rm(join(this.dir, path), { force: true });
    else if (isPlain) {
      await mkdir(dirname(join(this.dir, path)), { recursive: true });
      await writeFile(join(this.dir, path), file);
    }
  }
}
