import { groupOf } from "../state/facts.ts";
import type { State } from "../state/state.ts";
import type { Allocation } from "../state/types.ts";
import { holdsResources, holdsTwice, type NodeLoad, portKey, type Usage, usageOf } from "./fit.ts";

interface Load {
  usage: { cpu: number; cores: number; memory: number; disk: number };
  readonly ports: Map<string, number>;
  readonly held: Map<string, { readonly usage: Usage; readonly ports: readonly string[] }>;
  /** Ids of those that hold one port twice. */
  readonly twice: Set<string>;
}

/** What each node carries, kept up to date by every write, so that a placement does not add up all allocations anew. */
export class LoadIndex {
  readonly #state: State;
  #loads = new Map<string, Load>();

  constructor(state: State) {
    this.#state = state;
    state.listen((write) => {
      for (const change of write.changes) {
        if (change.table !== "allocs") continue;
        if (change.after !== undefined) this.#update(change.after);
        else if (change.before !== undefined) this.#release(change.before);
      }
    });
    state.onRestore(() => {
      this.#loads = new Map();
      for (const alloc of this.#state.allocs.rows.values()) this.#update(alloc);
    });
  }

  /** Load of a node without the allocations of `without`. */
  of(nodeId: string, without: ReadonlySet<string>): NodeLoad {
    const load = this.#loads.get(nodeId);
    if (load === undefined) return { usage: { cpu: 0, cores: 0, memory: 0, disk: 0 }, ports: new Set(), collides: false };
    const usage = { ...load.usage };
    const ports = new Map(load.ports);
    for (const id of without) {
      const held = load.held.get(id);
      if (held === undefined) continue;
      usage.cpu -= held.usage.cpu;
      usage.cores -= held.usage.cores;
      usage.memory -= held.usage.memory;
      usage.disk -= held.usage.disk;
      for (const port of held.ports) count(ports, port, -1);
    }
    return { usage, ports: new Set(ports.keys()), collides: [...load.twice].some((id) => !without.has(id)) };
  }

  #update(alloc: Allocation): void {
    this.#release(alloc);
    const group = groupOf(alloc.Job, alloc.TaskGroup);
    if (group === undefined || !holdsResources(alloc)) return;
    let load = this.#loads.get(alloc.NodeID);
    if (load === undefined) {
      load = { usage: { cpu: 0, cores: 0, memory: 0, disk: 0 }, ports: new Map(), held: new Map(), twice: new Set() };
      this.#loads.set(alloc.NodeID, load);
    }
    const usage = usageOf(group);
    const ports = (alloc.AllocatedResources?.Shared.Ports ?? []).map((port) => portKey(port.HostIP, port.Value));
    load.held.set(alloc.ID, { usage, ports });
    if (holdsTwice(alloc)) load.twice.add(alloc.ID);
    load.usage.cpu += usage.cpu;
    load.usage.cores += usage.cores;
    load.usage.memory += usage.memory;
    load.usage.disk += usage.disk;
    for (const port of ports) count(load.ports, port, 1);
  }

  #release(alloc: Allocation): void {
    const load = this.#loads.get(alloc.NodeID);
    const held = load?.held.get(alloc.ID);
    if (load === undefined || held === undefined) return;
    load.held.delete(alloc.ID);
    load.twice.delete(alloc.ID);
    load.usage.cpu -= held.usage.cpu;
    load.usage.cores -= held.usage.cores;
    load.usage.memory -= held.usage.memory;
    load.usage.disk -= held.usage.disk;
    for (const port of held.ports) count(load.ports, port, -1);
  }
}

function count(ports: Map<string, number>, port: string, by: number): void {
  const next = (ports.get(port) ?? 0) + by;
  if (next > 0) ports.set(port, next);
  else ports.delete(port);
}
