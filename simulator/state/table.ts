interface Grouping<Row> {
  readonly grouping: string;
  readonly of: (row: Row) => string;
  readonly groups: Map<string, Map<string, Row>>;
}

/** One table: rows by key, the raft index of its last write, and groups of rows by a shared property. */
export class Table<Row> {
  readonly name: string;
  readonly keyOf: (row: Row) => string;
  rows = new Map<string, Row>();
  /** Raft index of the last write. */
  index = 0;
  readonly #groupings: readonly Grouping<Row>[];
  #sorted: readonly string[] | undefined;

  constructor(name: string, keyOf: (row: Row) => string, groupers: Readonly<Record<string, (row: Row) => string>> = {}) {
    this.name = name;
    this.keyOf = keyOf;
    this.#groupings = Object.entries(groupers).map(([grouping, of]) => ({ grouping, of, groups: new Map() }));
  }

  get(key: string): Row | undefined {
    return this.rows.get(key);
  }

  /** Rows that share `value` of a grouping, in the order in which they came. */
  by(grouping: string, value: string): Row[] {
    const group = this.#groupings.find((one) => one.grouping === grouping)?.groups.get(value);
    return group === undefined ? [] : [...group.values()];
  }

  /** All rows in the order of their keys, as the radix tree of a real server walks them. */
  sorted(): Row[] {
    this.#sorted ??= [...this.rows.keys()].sort(byBytes);
    const found: Row[] = [];
    for (const key of this.#sorted) {
      const row = this.rows.get(key);
      if (row !== undefined) found.push(row);
    }
    return found;
  }

  put(row: Row): Row | undefined {
    const key = this.keyOf(row);
    const before = this.rows.get(key);
    if (before === undefined) this.#sorted = undefined;
    this.rows.set(key, row);
    for (const { of, groups } of this.#groupings) {
      const value = of(row);
      if (before !== undefined && of(before) !== value) ungroup(groups, of(before), key);
      const group = groups.get(value);
      if (group === undefined) groups.set(value, new Map([[key, row]]));
      else group.set(key, row);
    }
    return before;
  }

  delete(key: string): Row | undefined {
    const before = this.rows.get(key);
    if (before === undefined) return undefined;
    this.rows.delete(key);
    this.#sorted = undefined;
    for (const { of, groups } of this.#groupings) ungroup(groups, of(before), key);
    return before;
  }

  /** Replaces all rows (restore of a snapshot). */
  replace(rows: ReadonlyMap<string, Row>, index: number): void {
    this.rows = new Map();
    for (const { groups } of this.#groupings) groups.clear();
    this.#sorted = undefined;
    for (const row of rows.values()) this.put(row);
    this.index = index;
  }
}

function ungroup<Row>(groups: Map<string, Map<string, Row>>, value: string, key: string): void {
  const group = groups.get(value);
  group?.delete(key);
  if (group?.size === 0) groups.delete(value);
}

/** Order of UTF-8 bytes, which for valid text is the order of code points. */
export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Key of a row inside a namespace. */
export function scoped(namespace: string, id: string): string {
  return `${namespace}\u0000${id}`;
}
