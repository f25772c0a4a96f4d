/**
 * Points between two writes of the store that no call to Nomad separates. A bolt is a trigger that refuses one kind of write: the whole
 * transaction is undone, as when the process had died before it, and its log tells by the bolt's name that it stands there. It is drawn
 * after the death, before the next life.
 */
import Database from "better-sqlite3";
import type { NopsProcess } from "./nops-process.ts";

export interface Bolt {
  /** Resolves when the process ran against it. */
  readonly reached: Promise<unknown>;
  /** Lets such writes through again. */
  draw(): void;
}

export interface StoreBolts {
  /** Refuses a write. `before` is the beginning of a trigger (`UPDATE OF state ON deployments`), `when` its condition over NEW and OLD. */
  bolt(process: NopsProcess, name: string, before: string, when: string): Bolt;
  drawAll(): void;
}

/** @param path of the database, which must exist. */
export function storeBolts(path: string): StoreBolts {
  const drawn = new Set<string>();
  const run = (statement: string): void => {
    const database = new Database(path, { fileMustExist: true, timeout: 10_000 });
    try {
      database.exec(statement);
    } finally {
      database.close();
    }
  };
  const draw = (trigger: string): void => {
    if (drawn.delete(trigger)) run(`DROP TRIGGER ${trigger}`);
  };
  return {
    bolt: (process, name, before, when) => {
      const trigger = `bolt_${name.replaceAll(/\W/g, "_")}`;
      const words = `bolted by the test: ${name}`;
      run(`CREATE TRIGGER ${trigger} BEFORE ${before} WHEN ${when} BEGIN SELECT RAISE(ABORT, '${words}'); END`);
      drawn.add(trigger);
      return { reached: process.printed(new RegExp(`${words}\\b`)), draw: () => draw(trigger) };
    },
    drawAll: () => {
      for (const trigger of [...drawn]) draw(trigger);
    },
  };
}
