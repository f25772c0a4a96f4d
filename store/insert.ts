import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { SqliteDatabase } from "./database.ts";

/**
 * A prepared INSERT of one whole row. Absent members become NULL: column defaults do not apply. For the rows that every move
 * writes; building the same statement anew costs several times what running it does.
 */
export function preparedInsert<T extends SQLiteTable>(database: SqliteDatabase, table: T): (row: T["$inferInsert"]) => void {
  const columns = Object.entries(getTableColumns(table));
  const names = columns.map(([, column]) => column.name).join(", ");
  const places = columns.map(() => "?").join(", ");
  const text = ["INSERT INTO", getTableName(table), "(", names, ") VALUES (", places, ")"].join(" ");
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
