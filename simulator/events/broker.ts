import type { Change, State, Write } from "../state/state.ts";

export interface ClusterEvent {
  readonly Topic: string;
  readonly Type: string;
  readonly Key: string;
  readonly Namespace: string;
  readonly FilterKeys: readonly string[] | null;
  readonly Index: number;
  readonly Payload: unknown;
}

/** Everything that one raft entry made known. */
export interface Frame {
  readonly Index: number;
  readonly Events: readonly ClusterEvent[];
}

/** Event type of each raft message that makes events; others make none (nomad-api §8). */
const eventTypes: Readonly<Record<string, string>> = {
  JobRegister: "JobRegistered",
  JobDeregister: "JobDeregistered",
  JobBatchDeregister: "JobBatchDeregistered",
  EvalUpdate: "EvaluationUpdated",
  AllocationUpdated: "AllocationUpdated",
  AllocationUpdateDesiredStatus: "AllocationUpdateDesiredStatus",
  PlanResult: "PlanResult",
  DeploymentStatusUpdate: "DeploymentStatusUpdate",
  DeploymentPromotion: "DeploymentPromotion",
  DeploymentAllocHealth: "DeploymentAllocHealth",
  NodeRegister: "NodeRegistration",
  NodeDeregister: "NodeDeregistration",
  NodeUpdateStatus: "NodeEvent",
  NodeEvent: "NodeEvent",
  NodeUpdateDrain: "NodeDrain",
  BatchNodeUpdateDrain: "NodeDrain",
  NodeUpdateEligibility: "NodeEligibility",
  NodePoolUpsert: "NodePoolUpserted",
  NodePoolDelete: "NodePoolDeleted",
  ACLTokenUpsert: "ACLTokenUpserted",
  ACLTokenDelete: "ACLTokenDeleted",
  ACLPolicyUpsert: "ACLPolicyUpserted",
  ACLPolicyDelete: "ACLPolicyDeleted",
  ACLRoleUpsert: "ACLRoleUpserted",
  ACLRoleDelete: "ACLRoleDeleted",
  ACLAuthMethodUpsert: "ACLAuthMethodUpserted",
  ACLAuthMethodDelete: "ACLAuthMethodDeleted",
  ACLBindingRuleUpsert: "ACLBindingRuleUpserted",
  ACLBindingRuleDelete: "ACLBindingRuleDeleted",
  VarApply: "VariableUpdated",
};

type Bare = Omit<ClusterEvent, "Type" | "Index">;

function without(object: object, ...names: readonly string[]): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...object };
  for (const name of names) delete copy[name];
  return copy;
}

/** The event of one changed row, or undefined for tables that make none. */
function eventOf(change: Change): Bare | undefined {
  const deleted = change.after === undefined;
  const plain = (
    Topic: string,
    Key: string,
    Payload: unknown,
    Namespace = "",
    FilterKeys: readonly string[] | null = null,
  ): Bare => ({ Topic, Key, Namespace, FilterKeys, Payload });
  switch (change.table) {
    case "jobs": {
      const job = change.after ?? change.before;
      if (job === undefined) return undefined;
      return plain("Job", job.ID, deleted ? { Job: job, Deleted: true } : { Job: job }, job.Namespace);
    }
    case "evals": {
      const row = change.after;
      if (row === undefined) return undefined;
      const keys = [row.JobID, row.DeploymentID ?? ""];
      return plain("Evaluation", row.ID, { Evaluation: row }, row.Namespace, keys);
    }
    case "allocs": {
      const row = change.after;
      if (row === undefined) return undefined;
      return plain("Allocation", row.ID, { Allocation: without(row, "Job") }, row.Namespace, [row.JobID, row.DeploymentID]);
    }
    case "deployment": {
      const row = change.after;
      return row === undefined ? undefined : plain("Deployment", row.ID, { Deployment: row }, row.Namespace, [row.JobID]);
    }
    default:
      return otherEvent(change, plain);
  }
}

function otherEvent(
  change: Change,
  plain: (topic: string, key: string, payload: unknown, namespace?: string, keys?: readonly string[] | null) => Bare,
): Bare | undefined {
  switch (change.table) {
    case "nodes": {
      const row = change.after ?? change.before;
      return row === undefined ? undefined : plain("Node", row.ID, { Node: without(row, "SecretID") });
    }
    case "node_pools": {
      const row = change.after ?? change.before;
      return row === undefined ? undefined : plain("NodePool", row.Name, { NodePool: row });
    }
    case "variables": {
      const row = change.after ?? change.before;
      if (row === undefined) return undefined;
      const Metadata = without(row, "Items");
      return plain("Variable", row.Path, change.after === undefined ? { Metadata, Deleted: true } : { Metadata }, row.Namespace);
    }
    case "acl_token": {
      const row = change.after ?? change.before;
      return row === undefined ? undefined : plain("ACLToken", row.AccessorID, { ACLToken: without(row, "SecretID") });
    }
    case "acl_policy": {
      const row = change.after ?? change.before;
      return row === undefined ? undefined : plain("ACLPolicy", row.Name, { ACLPolicy: row });
    }
    case "acl_roles": {
      const row = change.after ?? change.before;
      return row === undefined ? undefined : plain("ACLRole", row.ID, { ACLRole: row }, "", [row.Name]);
    }
    case "acl_auth_methods": {
      const row = change.after ?? change.before;
      return row === undefined ? undefined : plain("ACLAuthMethod", row.Name, { AuthMethod: row });
    }
    case "acl_binding_rules": {
      const row = change.after ?? change.before;
      return row === undefined ? undefined : plain("ACLBindingRule", row.ID, { ACLBindingRule: row }, "", [row.AuthMethod]);
    }
    default:
      return undefined;
  }
}

const eventTables = new Set<string>([
  "jobs",
  "evals",
  "allocs",
  "deployment",
  "nodes",
  "node_pools",
  "variables",
  "acl_token",
  "acl_policy",
  "acl_roles",
  "acl_auth_methods",
  "acl_binding_rules",
]);

/** Whether a write makes any event; deletions of evaluations, allocations and deployments make none. */
function hasEvents(write: Write): boolean {
  if (eventTypes[write.type] === undefined) return false;
  return write.changes.some(
    ({ table, after }) => eventTables.has(table) && (after !== undefined || !["evals", "allocs", "deployment"].includes(table)),
  );
}

/** A frame that is made when somebody wants to see it: most are never looked at. */
class LazyFrame {
  readonly index: number;
  #write: Write | undefined;
  #frame: Frame | undefined;

  constructor(write: Write) {
    this.index = write.index;
    this.#write = write;
  }

  get frame(): Frame | undefined {
    if (this.#write !== undefined) {
      this.#frame = frameOf(this.#write);
      this.#write = undefined;
    }
    return this.#frame;
  }
}

/** The events of a write; a row that was put several times counts once, at its last place. */
export function frameOf(write: Write): Frame | undefined {
  const Type = eventTypes[write.type];
  if (Type === undefined) return undefined;
  const byRow = new Map<string, Bare>();
  for (const change of write.changes) {
    const event = eventOf(change);
    if (event === undefined) continue;
    const key = `${event.Topic}\u0000${event.Namespace}\u0000${event.Key}`;
    byRow.delete(key);
    byRow.set(key, event);
  }
  if (byRow.size === 0) return undefined;
  const Events = [...byRow.values()].map(({ Topic, ...rest }) => ({ Topic, Type, ...rest, Index: write.index }));
  return { Index: write.index, Events };
}

/** What a subscriber wants to hear of: topic → keys. */
export type Topics = ReadonlyMap<string, readonly string[]>;

export interface Subscriber {
  readonly topics: Topics;
  /** `*` for all. */
  readonly namespace: string;
  /** Takes a frame; false when it cannot take more for now. */
  readonly send: (frame: Frame) => boolean;
  /** The subscription is over, with the server's reason. */
  readonly closed: (reason: string) => void;
}

export interface Subscription {
  /** Call when the subscriber can take more. */
  resume(): void;
  cancel(): void;
}

interface Entry {
  readonly subscriber: Subscriber;
  /** Sequence number of the next frame to send. */
  next: number;
  live: boolean;
}

/** Keeps the last frames and hands them to subscribers in order. Older ones are gone without a word (nomad-api §8). */
export class EventBroker {
  readonly #size: number;
  #frames: LazyFrame[] = [];
  /** Sequence number of the first kept frame. */
  #first = 0;
  readonly #entries = new Set<Entry>();
  /** Lets a fault swallow frames. */
  filter: (() => boolean) | undefined;

  constructor(state: State, size = 100) {
    this.#size = size;
    state.listen((write) => {
      if (hasEvents(write) && this.filter?.() !== false) this.#publish(new LazyFrame(write));
    });
    state.onRestore(() => {
      this.#first += this.#frames.length;
      this.#frames = [];
      this.closeAll("subscription closed by server, client should resubscribe");
    });
  }

  #publish(frame: LazyFrame): void {
    this.#frames.push(frame);
    if (this.#frames.length > this.#size) {
      this.#frames.shift();
      this.#first++;
    }
    for (const entry of [...this.#entries]) this.#pump(entry);
  }

  /** Starts at `index`, or at the closest newer frame that is kept; 0: at the oldest. One that lies ahead waits for news. */
  subscribe(subscriber: Subscriber, index: number): Subscription {
    const at = index <= 0 ? 0 : this.#frames.findIndex((frame) => frame.index >= index);
    const entry: Entry = { subscriber, next: this.#first + (at < 0 ? this.#frames.length : at), live: true };
    this.#entries.add(entry);
    this.#pump(entry);
    return {
      resume: () => this.#pump(entry),
      cancel: () => this.#drop(entry),
    };
  }

  #drop(entry: Entry): void {
    entry.live = false;
    this.#entries.delete(entry);
  }

  #pump(entry: Entry): void {
    while (entry.live && entry.next < this.#first + this.#frames.length) {
      if (entry.next < this.#first) {
        this.#drop(entry);
        entry.subscriber.closed("event dropped from buffer");
        return;
      }
      const frame = this.#frames[entry.next - this.#first]?.frame;
      entry.next++;
      if (frame === undefined) return;
      const Events = select(frame.Events, entry.subscriber);
      if (Events.length > 0 && !entry.subscriber.send({ Index: frame.Index, Events })) return;
    }
  }

  closeAll(reason: string): void {
    for (const entry of [...this.#entries]) {
      this.#drop(entry);
      entry.subscriber.closed(reason);
    }
  }
}

/** An event that meets two keys comes twice; `*` beside other keys of its topic is not looked at (nomad-api §8). */
function select(
  events: readonly ClusterEvent[],
  { topics, namespace }: Pick<Subscriber, "topics" | "namespace">,
): ClusterEvent[] {
  return events.flatMap((event) => {
    if (namespace !== "*" && event.Namespace !== "" && event.Namespace !== namespace) return [];
    const keys = topics.get(event.Topic) ?? topics.get("*");
    if (keys === undefined) return [];
    if (keys.length === 1 && keys[0] === "*") return [event];
    return keys.filter((key) => event.Key === key || event.FilterKeys?.includes(key)).map(() => event);
  });
}
