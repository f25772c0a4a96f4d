import type { RawAnswer, Request } from "./ask.ts";

interface Row {
  readonly ID: string;
  readonly Namespace: string;
  readonly JobID: string;
  readonly Name: string;
  readonly TriggeredBy: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly JobModifyIndex: number;
  readonly Version: number;
  readonly Path: string;
  readonly Description: string;
  readonly Target: Readonly<Record<string, string>>;
}

/** What one server calls the things that both have: their random ids and raft indexes, by names that say what they are of. */
export class Book {
  readonly #ask: (request: Request) => Promise<RawAnswer>;
  readonly #acl: boolean;
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(ask: (request: Request) => Promise<RawAnswer>, acl: boolean) {
    this.#ask = ask;
    this.#acl = acl;
  }

  put(name: string, id: string): void {
    this.#ids.set(name, id);
    if (id.length === 36) this.#names.set(id, name);
  }

  /** A text with the names in it replaced; `{{name|8}}` is the beginning of an id. One that is not known becomes an id of nothing. */
  fill(text: string): string {
    return text.replace(/\{\{([^}|]+)(?:\|(\d+))?\}\}/g, (_, name: string, length: string | undefined) => {
      const id = this.#ids.get(name) ?? (name.startsWith("index:") ? "999999" : "00000000-0000-0000-0000-000000000000");
      return length === undefined ? id : id.slice(0, Number(length));
    });
  }

  filled(request: Request): Request {
    const { body, headers } = request;
    return {
      ...request,
      path: this.fill(request.path),
      ...(body === undefined ? {} : { body: JSON.parse(this.fill(JSON.stringify(body))) as unknown }),
      ...(headers === undefined
        ? {}
        : { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.fill(value)])) }),
    };
  }

  /** The name of an id, or a mask for one that has none. */
  nameOf(id: string): string {
    return `<${this.#names.get(id) ?? "id"}>`;
  }

  async #rows(path: string): Promise<Row[]> {
    const { status, body } = await this.#ask({ method: "GET", path });
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    const rows = (JSON.parse(body) as Row[] | null) ?? [];
    return rows.sort((a, b) => a.CreateIndex - b.CreateIndex || compare(rank(a), rank(b)));
  }

  /** Looks up what there is by now. */
  async look(): Promise<void> {
    const everywhere = "?namespace=*";
    this.#number("eval", await this.#rows(`/v1/evaluations${everywhere}`), (row) => `${row.Namespace}/${row.JobID}`);
    this.#number("deployment", await this.#rows(`/v1/deployments${everywhere}`), (row) => `${row.Namespace}/${row.JobID}`);
    this.#number("alloc", await this.#rows(`/v1/allocations${everywhere}`), (row) => `${row.Namespace}/${row.Name}`);
    this.#number("policy", await this.#rows(`/v1/scaling/policies${everywhere}`), ({ Target }) =>
      ["Namespace", "Job", "Group"].map((key) => Target[key] ?? "").join("/"),
    );
    for (const row of await this.#rows(`/v1/jobs${everywhere}`)) {
      this.put(`index:job:${row.Namespace}/${row.ID}`, String(row.JobModifyIndex));
    }
    for (const row of await this.#rows(`/v1/vars${everywhere}`)) {
      this.put(`index:var:${row.Namespace}/${row.Path}`, String(row.ModifyIndex));
    }
    if (this.#acl) await this.#lookAtAccess();
  }

  async #lookAtAccess(): Promise<void> {
    for (const row of await this.#rows("/v1/acl/tokens")) {
      this.put(`token:${row.Name}`, (row as unknown as { readonly AccessorID: string }).AccessorID);
    }
    for (const row of await this.#rows("/v1/acl/roles")) this.put(`role:${row.Name}`, row.ID);
    for (const row of await this.#rows("/v1/acl/binding-rules")) this.put(`rule:${row.Description}`, row.ID);
  }

  #number(kind: string, rows: readonly Row[], of: (row: Row) => string): void {
    const counts = new Map<string, number>();
    for (const row of rows) {
      const owner = of(row);
      const n = counts.get(owner) ?? 0;
      counts.set(owner, n + 1);
      this.put(`${kind}:${owner}/${n}`, row.ID);
    }
  }
}

function rank(row: Row): string {
  return `${row.Namespace} ${row.JobID} ${row.Name} ${row.TriggeredBy}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
