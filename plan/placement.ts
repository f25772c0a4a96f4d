import type { AllocMetric, PlacementFailures } from "../model/nomad.ts";

function counted(
  counts: Readonly<Record<string, number>> | null | undefined,
  phrase: (name: string, count: number) => string,
): string[] {
  return Object.entries(counts ?? {})
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name, count]) => phrase(name, count));
}

const nodes = (count: number): string => (count === 1 ? "1 node" : `${count} nodes`);

/** Why a group could not be placed, in words (design D8): which constraint filtered how many nodes, what ran out, where none are. */
export function explainMetric(metric: AllocMetric): string {
  const evaluated = metric.NodesEvaluated ?? 0;
  const reasons = [
    ...counted(metric.ConstraintFiltered, (name, count) => `${nodes(count)} excluded by ${name}`),
    ...counted(metric.ClassFiltered, (name, count) => `${nodes(count)} of class ${name} excluded`),
    ...counted(metric.DimensionExhausted, (name, count) => `${nodes(count)} without enough ${name}`),
    ...(metric.QuotaExhausted ?? []).map((quota) => `quota exhausted: ${quota}`),
  ];
  if (evaluated === 0) {
    const empty = counted(metric.NodesAvailable, (name, count) => (count === 0 ? `no node in datacenter ${name}` : "")).filter(
      Boolean,
    );
    return [empty.length > 0 ? empty.join(", ") : "no node is eligible", ...reasons].join("; ");
  }
  return reasons.length === 0 ? `none of ${nodes(evaluated)} fits` : `of ${nodes(evaluated)}: ${reasons.join(", ")}`;
}

/** The same for every group; empty when all could be placed. */
export function explainPlacement(failures: PlacementFailures | null | undefined): string {
  return Object.entries(failures ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, metric]) => {
      const more = (metric.CoalescedFailures ?? 0) > 0 ? ` (and ${metric.CoalescedFailures} more of it)` : "";
      return `group ${group} cannot be placed${more}: ${explainMetric(metric)}`;
    })
    .join("; ");
}
