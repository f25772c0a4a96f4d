import type { Node } from "../state/cluster-types.ts";
import type { Constraint } from "../state/types.ts";
import { versionMatches } from "./versions.ts";

/** The value that `${…}` has on a node; a plain text is itself. Undefined when the node does not have it. */
export function resolveTarget(target: string, node: Node): string | undefined {
  if (!target.startsWith("${")) return target;
  const path = target.slice(2, -1);
  if (path === "node.unique.id") return node.ID;
  if (path === "node.unique.name") return node.Name;
  if (path === "node.datacenter") return node.Datacenter;
  if (path === "node.class") return node.NodeClass;
  if (path === "node.pool") return node.NodePool;
  if (path.startsWith("attr.")) return node.Attributes[path.slice(5)];
  if (path.startsWith("meta.")) return node.Meta?.[path.slice(5)];
  return undefined;
}

/** Whether a node meets a constraint or affinity. `distinct_…` are judged elsewhere and pass here. */
export function meets(node: Node, constraint: Constraint): boolean {
  const left = resolveTarget(constraint.LTarget, node);
  const right = resolveTarget(constraint.RTarget, node);
  switch (constraint.Operand) {
    case "distinct_hosts":
    case "distinct_property":
      return true;
    case "!=":
    case "not":
      return left !== right;
    case "is_set":
      return left !== undefined;
    case "is_not_set":
      return left === undefined;
    default:
      return left !== undefined && right !== undefined && compare(constraint.Operand, left, right);
  }
}

function compare(operand: string, left: string, right: string): boolean {
  switch (operand) {
    case "=":
    case "==":
    case "is":
      return left === right;
    case "<":
    case "<=":
    case ">":
    case ">=":
      return ordered(operand, left, right);
    case "regexp":
      return matches(left, right);
    case "version":
      return versionMatches(left, right, false);
    case "semver":
      return versionMatches(left, right, true);
    case "set_contains":
    case "set_contains_all":
      return items(right).every((item) => items(left).includes(item));
    case "set_contains_any":
      return items(right).some((item) => items(left).includes(item));
    default:
      return false;
  }
}

/** Numbers are compared as numbers when both sides are, else the texts are. */
function ordered(operand: string, left: string, right: string): boolean {
  const numeric = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;
  const both = numeric.test(left) && numeric.test(right);
  const difference = both ? Number(left) - Number(right) : left < right ? -1 : left > right ? 1 : 0;
  if (operand === "<") return difference < 0;
  if (operand === "<=") return difference <= 0;
  if (operand === ">") return difference > 0;
  return difference >= 0;
}

function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern).test(text);
  } catch {
    return false;
  }
}

function items(list: string): string[] {
  return list.split(",").map((item) => item.trim());
}

/** How Nomad names a constraint in placement failures. */
export function constraintText(constraint: Constraint): string {
  return `${constraint.LTarget} ${constraint.Operand} ${constraint.RTarget}`;
}
