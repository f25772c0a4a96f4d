import type { Statement } from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { SqliteDatabase } from "./database.ts";

/**
 * A prepared INSERT of one whole row, with an ON CONFLICT clause where one is wanted. Absent members become NULL: column defaults do
 * not apply. For the rows that every move
 * writes; building the same statement anew costs several times what running it does.
 */
export function preparedInsert<T extends SQLiteTable>(
  database: SqliteDatabase,
  table: T,
  conflict = "",
): (row: T["$inferInsert"]) => void {
  const columns = Object.entries(getTableColumns(table));
  const names = columns.map(([, column]) => column.name).join(", ");
  const places = columns.map(() => "?").join(", ");
  const text = ["INSERT INTO", getTableName(table), "(", names, ") VALUES (", places, ")", conflict].join(" ");
  const statement = database.prepare<unknown[]>(text);
  return (row) => {
    const members = row as Readonly<Record<string, unknown>>;
    statement.run(
      columns.map(([member, column]) => {
        const value = members[member];
        return value === undefined || value === null ? null : column.mapToDriverValue(value);
      }),
    );
  };
}

/** Writes some members of the rows that a fixed condition chooses, and says how many rows those were. */
export type RowUpdate<T extends SQLiteTable> = (change: Partial<T["$inferInsert"]>, ...condition: readonly unknown[]) => number;

/**
 * UPDATE of a table with a fixed condition such as `id = ?`. Members that are undefined stay as they are. Each set of members is
 * prepared when it is first written.
 */
export function preparedUpdate<T extends SQLiteTable>(database: SqliteDatabase, table: T, condition: string): RowUpdate<T> {
  const columns = getTableColumns(table);
  const statements = new Map<string, Statement<unknown[]>>();
  const prepare = (members: readonly string[]): Statement<unknown[]> => {
    const settings = members.map((member) => `${columns[member]?.name ?? member} = ?`).join(", ");
    return database.prepare<unknown[]>(["UPDATE", getTableName(table), "SET", settings, "WHERE", condition].join(" "));
  };
  return (change, ...conditions) => {
    const changed = Object.entries(change).filter(([, value]) => value !== undefined);
    const members = changed.map(([member]) => member);
    const name = members.join();
    const statement = statements.get(name) ?? prepare(members);
    statements.set(name, statement);
    const values = changed.map(([member, value]) => (value === null ? null : columns[member]?.mapToDriverValue(value)));
    return statement.run(...values, ...conditions).changes;
  };
}
