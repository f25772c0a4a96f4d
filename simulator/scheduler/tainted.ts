import type { Node } from "../state/cluster-types.ts";
import { serverTerminal } from "../state/facts.ts";
import type { State } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Deployment } from "../state/types.ts";
import type { Tainted } from "./alloc-set.ts";

/** Nodes of these allocations that are gone, down, draining or cut off. */
export function taintedNodes(state: State, allocs: readonly Allocation[]): Tainted {
  const tainted = new Map<string, Node | undefined>();
  for (const alloc of allocs) {
    if (tainted.has(alloc.NodeID)) continue;
    const node = state.nodes.get(alloc.NodeID);
    if (node === undefined || node.Status === "down" || node.Status === "disconnected" || node.DrainStrategy !== null) {
      tainted.set(alloc.NodeID, node);
    }
  }
  return tainted;
}

/** Told to stop, but their node died before it could say so. */
export function lostWhileStopping(allocs: readonly Allocation[], tainted: Tainted): Allocation[] {
  return allocs.filter((alloc) => {
    const node = tainted.get(alloc.NodeID);
    const dead = tainted.has(alloc.NodeID) && (node === undefined || node.Status === "down");
    return dead && serverTerminal(alloc) && (alloc.ClientStatus === "running" || alloc.ClientStatus === "pending");
  });
}

/** The deployment that was made last. */
export function latestDeployment(state: State, namespace: string, jobId: string): Deployment | undefined {
  let latest: Deployment | undefined;
  for (const one of state.deployment.by("job", scoped(namespace, jobId))) {
    if (latest === undefined || one.CreateIndex > latest.CreateIndex) latest = one;
  }
  return latest;
}
