import type {
  AclPolicy,
  AclRole,
  AclToken,
  AuthMethod,
  BindingRule,
  Namespace,
  Node,
  NodePool,
  PeriodicLaunch,
  ScalingEvents,
  SchedulerConfig,
  Variable,
} from "./cluster-types.ts";
import type { JobSummary } from "./summary-types.ts";
import { scoped, Table } from "./table.ts";
import type { Allocation, Deployment, Evaluation, Job, ScalingPolicy, Submission } from "./types.ts";

/** Row type of each table; the names are those of Nomad's own tables, which its indexes and events follow. */
export interface Rows {
  jobs: Job;
  job_summary: JobSummary;
  job_version: Job;
  job_submission: Submission;
  evals: Evaluation;
  allocs: Allocation;
  deployment: Deployment;
  nodes: Node;
  node_pools: NodePool;
  namespaces: Namespace;
  variables: Variable;
  acl_token: AclToken;
  acl_policy: AclPolicy;
  acl_roles: AclRole;
  acl_auth_methods: AuthMethod;
  acl_binding_rules: BindingRule;
  scaling_policy: ScalingPolicy;
  scaling_event: ScalingEvents;
  periodic_launch: PeriodicLaunch;
  scheduler_config: SchedulerConfig;
}

export type TableName = keyof Rows;

type Change1<T extends TableName> = {
  readonly table: T;
  readonly before: Rows[T] | undefined;
  readonly after: Rows[T] | undefined;
};
/** One row that a write put (`after`) or removed (`before` only). */
export type Change = { [T in TableName]: Change1<T> }[TableName];

/** Everything that one raft entry changed. `type` is the raft message, from which events get their type (nomad-api §8). */
export interface Write {
  readonly index: number;
  readonly type: string;
  readonly changes: readonly Change[];
}

/** The inside of one write. */
export class Tx {
  readonly index: number;
  readonly changes: Change[] = [];
  readonly #state: State;

  constructor(state: State, index: number) {
    this.#state = state;
    this.index = index;
  }

  get state(): State {
    return this.#state;
  }

  put<T extends TableName>(name: T, row: Rows[T]): void {
    const table = this.#state.table(name);
    const before = table.put(row);
    table.index = this.index;
    this.changes.push({ table: name, before, after: row } as unknown as Change);
  }

  delete<T extends TableName>(name: T, key: string): void {
    const table = this.#state.table(name);
    const before = table.delete(key);
    if (before === undefined) return;
    table.index = this.index;
    this.changes.push({ table: name, before, after: undefined } as unknown as Change);
  }

  /** Moves the index of a table without a change of rows, as some raft messages do. */
  touch(name: TableName): void {
    this.#state.table(name).index = this.index;
  }
}

/** What `State.snapshot` took: hand it to `State.restore`. */
export interface Snapshot {
  readonly index: number;
  readonly tables: ReadonlyMap<string, { readonly rows: ReadonlyMap<string, unknown>; readonly index: number }>;
}

const jobKey = (row: { Namespace: string; JobID: string }): string => scoped(row.Namespace, row.JobID);

/** The replicated state: tables, one raft index, and listeners that hear of every write in order. */
export class State {
  /** Raft index of the last write. A restore moves table indexes back, never this one (nomad-api §17). */
  index: number;
  readonly jobs = new Table<Job>("jobs", (r) => scoped(r.Namespace, r.ID), { parent: (r) => scoped(r.Namespace, r.ParentID) });
  readonly job_summary = new Table<JobSummary>("job_summary", jobKey);
  readonly job_version = new Table<Job>("job_version", (r) => `${scoped(r.Namespace, r.ID)}\u0000${r.Version}`, {
    job: (r) => scoped(r.Namespace, r.ID),
  });
  readonly job_submission = new Table<Submission>("job_submission", (r) => `${jobKey(r)}\u0000${r.Version}`, { job: jobKey });
  readonly evals = new Table<Evaluation>("evals", (r) => r.ID, { job: jobKey, status: (r) => r.Status });
  readonly allocs = new Table<Allocation>("allocs", (r) => r.ID, {
    job: jobKey,
    node: (r) => r.NodeID,
    deployment: (r) => r.DeploymentID,
    eval: (r) => r.EvalID,
  });
  readonly deployment = new Table<Deployment>("deployment", (r) => r.ID, { job: jobKey });
  readonly nodes = new Table<Node>("nodes", (r) => r.ID);
  readonly node_pools = new Table<NodePool>("node_pools", (r) => r.Name);
  readonly namespaces = new Table<Namespace>("namespaces", (r) => r.Name);
  readonly variables = new Table<Variable>("variables", (r) => scoped(r.Namespace, r.Path));
  readonly acl_token = new Table<AclToken>("acl_token", (r) => r.AccessorID, { secret: (r) => r.SecretID });
  readonly acl_policy = new Table<AclPolicy>("acl_policy", (r) => r.Name);
  readonly acl_roles = new Table<AclRole>("acl_roles", (r) => r.ID, { name: (r) => r.Name });
  readonly acl_auth_methods = new Table<AuthMethod>("acl_auth_methods", (r) => r.Name);
  readonly acl_binding_rules = new Table<BindingRule>("acl_binding_rules", (r) => r.ID, { method: (r) => r.AuthMethod });
  readonly scaling_policy = new Table<ScalingPolicy>("scaling_policy", (r) => r.ID, {
    job: (r) => scoped(r.Target?.["Namespace"] ?? "", r.Target?.["Job"] ?? ""),
  });
  readonly scaling_event = new Table<ScalingEvents>("scaling_event", jobKey);
  readonly periodic_launch = new Table<PeriodicLaunch>("periodic_launch", (r) => scoped(r.Namespace, r.ID));
  readonly scheduler_config = new Table<SchedulerConfig>("scheduler_config", () => "");
  readonly #listeners: ((write: Write) => void)[] = [];
  readonly #restoreListeners: (() => void)[] = [];
  readonly #queue: Write[] = [];
  #telling = false;

  /** A real server has written about ten entries of its own before the first request. */
  constructor(firstIndex = 10) {
    this.index = firstIndex;
  }

  table<T extends TableName>(name: T): Table<Rows[T]> {
    return this[name] as unknown as Table<Rows[T]>;
  }

  /** Applies one raft entry. Checks must come before the first put: a write that throws leaves what it had put. */
  write<R>(type: string, fn: (tx: Tx) => R): R {
    const tx = new Tx(this, ++this.index);
    const result = fn(tx);
    this.#queue.push({ index: tx.index, type, changes: tx.changes });
    this.#tell();
    return result;
  }

  /** Listeners hear of writes in the order of their indexes, also of those that a listener makes. */
  listen(listener: (write: Write) => void): void {
    this.#listeners.push(listener);
  }

  /** Called after a snapshot was restored. */
  onRestore(listener: () => void): void {
    this.#restoreListeners.push(listener);
  }

  #tell(): void {
    if (this.#telling) return;
    this.#telling = true;
    try {
      for (let write = this.#queue.shift(); write !== undefined; write = this.#queue.shift()) {
        for (const listener of this.#listeners) listener(write);
      }
    } finally {
      this.#telling = false;
    }
  }

  /** Index that a list over these tables answers with; never 0 once anything was written (nomad-api §7.1). */
  indexOf(...names: readonly TableName[]): number {
    return Math.max(...names.map((name) => this.table(name).index));
  }

  snapshot(): Snapshot {
    const tables = new Map<string, { rows: ReadonlyMap<string, unknown>; index: number }>();
    for (const table of this.#tables()) tables.set(table.name, { rows: new Map(table.rows), index: table.index });
    return { index: this.index, tables };
  }

  /** Puts all rows back as they were. Numbers are not given out twice: the raft index goes on (nomad-api §17). */
  restore(snapshot: Snapshot): void {
    for (const table of this.#tables()) {
      const saved = snapshot.tables.get(table.name);
      table.replace(saved?.rows ?? new Map(), saved?.index ?? 0);
    }
    this.index += 2;
    for (const listener of this.#restoreListeners) listener();
  }

  #tables(): Table<unknown>[] {
    return Object.values(this).filter((value): value is Table<unknown> => value instanceof Table);
  }
}
