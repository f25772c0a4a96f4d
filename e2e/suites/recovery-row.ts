/** Every row of operator §15 is brought to its point, then the one process of all dies. */
import type { DoorWorld } from "./door-world.ts";

/** A line of the table: where the process dies, and what the next one makes of it. */
export interface RecoveryRow {
  /** In the row's own words; absent when a row of the next death looks at the same job. */
  readonly name?: string;
  /** Committed at the beginning of the life that ends at the point. */
  readonly files?: Readonly<Record<string, string>>;
  /** Begins before the commit, and resolves when the process stands at the point. */
  bring(world: DoorWorld): Promise<unknown>;
  /** What the world does while nobody looks. */
  meanwhile?(world: DoorWorld): Promise<unknown>;
  /** In the next life. */
  after?(world: DoorWorld): Promise<unknown>;
}

/** Nobody stands before a point for ever without the test telling before which. */
const patienceMs = 40_000;

/** Brings every row to its point, ends the process there, and lets the world go on. @throws naming a row that nobody came to. */
export async function dieAt(rows: readonly RecoveryRow[], world: DoorWorld): Promise<void> {
  const brought = rows.map((row) => inTime(row.bring(world), row.name ?? Object.keys(row.files ?? {}).join()));
  const files = Object.assign({}, ...rows.map((row) => row.files ?? {})) as Record<string, string>;
  if (Object.keys(files).length > 0) await world.commit(files);
  await Promise.all(brought);
  await world.kill();
  for (const row of rows) await row.meanwhile?.(world);
}

function inTime<T>(reached: Promise<T>, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nobody came to this point: ${name}`)), patienceMs);
  });
  return Promise.race([reached, late]).finally(() => clearTimeout(timer));
}
