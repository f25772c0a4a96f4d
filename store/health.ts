import { statSync } from "node:fs";
import type { Connection } from "./connection.ts";
import { durability } from "./database.ts";
import type { StoreBrokenError } from "./errors.ts";
import { schemaVersion } from "./migrate.ts";

export interface StoreHealth {
  readonly schema: number;
  readonly journalMode: string;
  /** 2 is FULL. */
  readonly synchronous: number;
  readonly foreignKeys: number;
  /** Bytes of the file; of the pages in memory without one. */
  readonly databaseBytes: number;
  readonly walBytes: number;
  /** The failure after which nothing is accepted any more: end the process. */
  readonly broken: StoreBrokenError | undefined;
}

/** How the database does: for probes, doctor and metrics. */
export class Health {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async health(): Promise<StoreHealth> {
    const c = this.#connection;
    const pages = Number(c.raw.pragma("page_count", { simple: true })) * Number(c.raw.pragma("page_size", { simple: true }));
    return {
      schema: schemaVersion(c.raw),
      ...durability(c.raw),
      databaseBytes: c.memory ? pages : bytesOf(c.path),
      walBytes: c.memory ? 0 : bytesOf(`${c.path}-wal`),
      broken: c.broken,
    };
  }

  /** Writes and reads a row, on disk. @throws StoreBrokenError. */
  async probe(): Promise<void> {
    const c = this.#connection;
    c.administer(() =>
      c.raw
        .prepare("INSERT INTO meta (key, value) VALUES ('probed_at', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
        .run(c.now()),
    );
  }
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
