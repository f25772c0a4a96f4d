import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";

/** The loose objects and branches of a repository that `createTempRepository` made. Reads anew at each call. */
export interface GitObjects {
  /** Branches by full name, `refs/heads/main` first. */
  refs(): ReadonlyMap<string, string>;
  /** Every object that `wants` need and somebody who has `haves` lacks. `depth` cuts the history of the wants. */
  missing(request: PackRequest): { readonly oids: readonly string[]; readonly shallow: readonly string[] };
  pack(oids: readonly string[]): Buffer;
}

export interface PackRequest {
  readonly wants: readonly string[];
  readonly haves: readonly string[];
  /** Commits of the client whose parents it lacks. */
  readonly shallow: readonly string[];
  readonly depth: number | undefined;
}

const typeCodes: Readonly<Record<string, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** Opens a repository for serving. Throws when an object that is asked for is not there. */
export function openObjects(gitdir: string): GitObjects {
  return new LooseObjects(gitdir);
}

class LooseObjects implements GitObjects {
  readonly #gitdir: string;

  constructor(gitdir: string) {
    this.#gitdir = gitdir;
  }

  refs(): ReadonlyMap<string, string> {
    const folder = join(this.#gitdir, "refs", "heads");
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const refs = names.map((entry): [string, string] => {
      const path = join(entry.parentPath, entry.name);
      return [`refs/heads/${path.slice(folder.length + 1)}`, readFileSync(path, "utf8").trim()];
    });
    return new Map(refs.sort(([left], [right]) => Number(right === "refs/heads/main") - Number(left === "refs/heads/main")));
  }

  missing({ wants, haves, shallow, depth }: PackRequest) {
    const had = this.#history(haves, Number.POSITIVE_INFINITY, new Set(shallow));
    const seen = new Set<string>();
    // As git's own server: trees of the client are taken as known only at its tips, and not at all when the history is cut.
    if (depth === undefined) for (const sha of haves) this.#collectTree(this.#treeOf(sha), seen);
    const known = new Set(seen);
    const wanted = this.#history(wants, depth ?? Number.POSITIVE_INFINITY, had.commits);
    for (const sha of wanted.commits) {
      if (had.commits.has(sha)) continue;
      seen.add(sha);
      this.#collectTree(this.#treeOf(sha), seen);
    }
    return { oids: [...seen].filter((oid) => !known.has(oid)), shallow: [...wanted.ends] };
  }

  pack(oids: readonly string[]): Buffer {
    const header = Buffer.alloc(12);
    header.write("PACK");
    header.writeUInt32BE(2, 4);
    header.writeUInt32BE(oids.length, 8);
    const parts: Buffer[] = [header];
    for (const oid of oids) {
      const { type, body } = this.#read(oid);
      parts.push(packEntryHeader(typeCodes[type] ?? 0, body.length), deflateSync(body, { level: 1 }));
    }
    return sealPack(Buffer.concat(parts));
  }

  #read(oid: string): { readonly type: string; readonly body: Buffer } {
    const object = inflateSync(readFileSync(join(this.#gitdir, "objects", oid.slice(0, 2), oid.slice(2))));
    const end = object.indexOf(0);
    return { type: object.toString("latin1", 0, object.indexOf(32)), body: object.subarray(end + 1) };
  }

  #treeOf(commit: string): string {
    return this.#read(commit).body.toString("latin1", 5, 45);
  }

  #parents(commit: string): readonly string[] {
    const header = this.#read(commit).body.toString("utf8").split("\n\n", 1)[0] ?? "";
    return [...header.matchAll(/^parent ([0-9a-f]{40})$/gm)].map((match) => match[1] ?? "");
  }

  #collectTree(oid: string, seen: Set<string>): void {
    if (seen.has(oid)) return;
    seen.add(oid);
    const { body } = this.#read(oid);
    for (let at = 0; at < body.length; ) {
      const end = body.indexOf(0, at);
      const mode = body.toString("latin1", at, body.indexOf(32, at));
      const child = body.toString("hex", end + 1, end + 21);
      if (mode === "40000") this.#collectTree(child, seen);
      else if (mode !== "160000") seen.add(child);
      at = end + 21;
    }
  }

  /** Commits reachable from `from`; those at the end of `depth`, or in `cut`, count but their parents do not. */
  #history(from: readonly string[], depth: number, cut: ReadonlySet<string>) {
    const commits = new Set<string>();
    const ends = new Set<string>();
    let level = [...from];
    for (let distance = 1; level.length > 0; distance++) {
      const next: string[] = [];
      for (const sha of level) {
        if (commits.has(sha)) continue;
        commits.add(sha);
        const older = this.#parents(sha);
        if (older.length > 0 && (distance >= depth || cut.has(sha))) ends.add(sha);
        else next.push(...older);
      }
      level = next;
    }
    return { commits, ends };
  }
}

/** Type and length of an object as a pack writes them. */
export function packEntryHeader(type: number, length: number): Buffer {
  const bytes = [];
  let rest = Math.floor(length / 16);
  let byte = (type << 4) | (length & 15);
  while (rest > 0) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, byte]);
}

/** Adds the SHA-1 that ends a pack. */
export function sealPack(content: Buffer): Buffer {
  return Buffer.concat([content, createHash("sha1").update(content).digest()]);
}
