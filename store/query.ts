import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { SqliteDatabase } from "./database.ts";

/** A row with `undefined` in place of each `null`. */
export type WithoutNulls<T> = { readonly [K in keyof T]: null extends T[K] ? Exclude<T[K], null> | undefined : T[K] };

/** Values of a statement's named parameters. */
type Parameters = Readonly<Record<string, unknown>>;

/** A prepared query for rows of one table. */
export interface RowQuery<R> {
  get(parameters?: Parameters): R | undefined;
  all(parameters?: Parameters): R[];
}

/**
 * Prepares `SELECT members FROM table` with a fixed end such as `WHERE id = @id`. For the reads that every pass and every move
 * begin with: putting the statement together costs a hundred times what running it does. The driver gives each row as a list,
 * from which the object is made here, since the driver's own objects take twice the time to make and more to use.
 */
export function rowQuery<T extends SQLiteTable, K extends keyof T["$inferSelect"] & string>(
  database: SqliteDatabase,
  table: T,
  members: readonly K[],
  end: string,
): RowQuery<WithoutNulls<Pick<T["$inferSelect"], K>>> {
  type Row = WithoutNulls<Pick<T["$inferSelect"], K>>;
  const columns = getTableColumns(table);
  const places = members.map((member) => ({ member, isFlag: columns[member]?.dataType === "boolean" }));
  const names = members.map((member) => columns[member]?.name ?? member);
  // By their places: looking for names takes the driver as long as half of a short query.
  const order: string[] = [];
  const placed = end.replace(/@(\w+)/g, (_match, name: string) => {
    order.push(name);
    return "?";
  });
  const text = ["SELECT", names.join(", "), "FROM", getTableName(table), placed].join(" ");
  const statement = database.prepare<unknown[], unknown[]>(text).raw();
  // Copies of it are born with all their members, so that all rows have one hidden class.
  const empty: Record<string, unknown> = Object.fromEntries(members.map((member) => [member, undefined]));
  const toRow = (values: readonly unknown[]): Row => {
    const row = { ...empty };
    let at = 0;
    for (const { member, isFlag } of places) {
      const value = values[at++];
      if (value !== null) row[member] = isFlag ? value === 1 : value;
    }
    return row as Row;
  };
  return {
    get(parameters = {}) {
      const values = statement.get(...order.map((name) => parameters[name]));
      return values === undefined ? undefined : toRow(values);
    },
    all: (parameters = {}) => statement.all(...order.map((name) => parameters[name])).map(toRow),
  };
}

/** Members of a table's rows, without those named. */
export function membersOf<T extends SQLiteTable, K extends keyof T["$inferSelect"] & string = never>(
  table: T,
  ...without: readonly K[]
): readonly Exclude<keyof T["$inferSelect"] & string, K>[] {
  const left: ReadonlySet<string> = new Set(without);
  return Object.keys(getTableColumns(table)).filter(
    (name): name is Exclude<keyof T["$inferSelect"] & string, K> => !left.has(name),
  );
}
