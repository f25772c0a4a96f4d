import { statSync } from "node:fs";
import { StoreBrokenError } from "./errors.ts";

/**
 * Which files a connection writes to. SQLite goes on with a file that was deleted, renamed or replaced under it and reports
 * nothing, so what it commits from then on is gone with the process; by this the path is compared before every commit.
 */
export class FileIdentity {
  readonly #paths: readonly string[];
  readonly #known = new Map<string, string | undefined>();

  /** Takes the files that stand at `path` now for the ones that the connection has open. */
  constructor(path: string) {
    this.#paths = [path, `${path}-wal`];
    for (const each of this.#paths) this.#known.set(each, identityOf(each));
  }

  /** @throws StoreBrokenError `store_replaced` when another file, or none, stands where the open one was. */
  assertUnmoved(): void {
    for (const path of this.#paths) {
      const now = identityOf(path);
      if (now === this.#known.get(path)) continue;
      throw new StoreBrokenError(`${path} was ${now === undefined ? "removed" : "replaced"} while nops had it open`, {
        code: "store_replaced",
        hint: "stop nops before the database is moved; put it back, or a backup with `nops restore FILE`, and start nops again",
      });
    }
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}
