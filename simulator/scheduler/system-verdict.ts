import type { Node } from "../state/cluster-types.ts";
import { ranSuccessfully } from "../state/facts.ts";
import { hasExpired, needsToReconnect } from "../state/silence.ts";
import type { Allocation } from "../state/types.ts";
import type { Tainted } from "./alloc-set.ts";

/** What becomes of an allocation of a system job: `back` and `unknown` are those whose node speaks again, or falls silent. */
export type SystemVerdict = "stop" | "migrate" | "lost" | "ignore" | "update" | "back" | "unknown";

export interface SystemFacts {
  /** Whether the job still wants one of that name on each node. */
  readonly required: boolean;
  /** Whether it is of an older version. */
  readonly changed: boolean;
  readonly tainted: Tainted;
  readonly eligible: ReadonlyMap<string, Node>;
  readonly notReady: ReadonlySet<string>;
  /** Milliseconds. */
  readonly now: number;
}

/** Of a running allocation of a system or sysbatch job. */
export function systemVerdict(alloc: Allocation, facts: SystemFacts): SystemVerdict {
  if (!facts.required) return "stop";
  if (alloc.DesiredTransition.Migrate) return "migrate";
  if (hasExpired(alloc, facts.now)) return "lost";
  if (alloc.ClientStatus === "unknown") return "ignore";
  if (facts.tainted.has(alloc.NodeID)) return onTaintedNode(alloc, facts.tainted.get(alloc.NodeID));
  if (needsToReconnect(alloc)) return "back";
  if (facts.notReady.has(alloc.NodeID)) return facts.changed ? "stop" : "ignore";
  if (!facts.eligible.has(alloc.NodeID)) return "stop";
  return facts.changed ? "update" : "ignore";
}

function onTaintedNode(alloc: Allocation, node: Node | undefined): SystemVerdict {
  if (alloc.Job.Type === "sysbatch" && ranSuccessfully(alloc)) return "ignore";
  if (node?.Status === "disconnected" && alloc.ClientStatus === "running") return "unknown";
  return node === undefined || node.Status === "down" ? "lost" : "ignore";
}
