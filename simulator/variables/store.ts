import type { Variable, VariableLock } from "../state/cluster-types.ts";
import { nanos } from "../state/facts.ts";
import type { State, Tx } from "../state/state.ts";
import { scoped } from "../state/table.ts";

/** What a write to a variable led to. `conflict` holds what stands in the way; undefined when that may not be shown. */
export type Outcome =
  | { readonly kind: "written"; readonly variable: Variable; readonly index: number }
  | { readonly kind: "deleted"; readonly index: number }
  | { readonly kind: "conflict"; readonly variable: Variable | undefined; readonly index: number }
  | { readonly kind: "failed"; readonly text: string };

export interface VariableWrite {
  readonly namespace: string;
  readonly path: string;
  readonly items: Readonly<Record<string, string>>;
  /** Compare-and-set on ModifyIndex; 0: must not exist. */
  readonly cas?: number | undefined;
  /** The lock that the writer holds, or wants. */
  readonly lock?: VariableLock | undefined;
}

/** Another one holds the lock. */
function foreign(existing: Variable | undefined, lockId: string | undefined): boolean {
  return existing?.Lock != null && existing.Lock.ID !== "" && existing.Lock.ID !== lockId;
}

/** Sets a variable (nomad-api §10.1). `acquire` also takes its lock. `now` in milliseconds. */
export function setVariable(state: State, write: VariableWrite, acquire: boolean, now: number): Outcome {
  const existing = state.variables.get(scoped(write.namespace, write.path));
  return state.write("VarApply", (tx): Outcome => {
    if (write.cas !== undefined) {
      if (write.cas === 0 && existing !== undefined) return { kind: "conflict", variable: existing, index: tx.index };
      if (write.cas !== 0 && write.cas !== existing?.ModifyIndex)
        return { kind: "conflict", variable: existing, index: tx.index };
    }
    if (foreign(existing, write.lock?.ID)) return { kind: "conflict", variable: undefined, index: tx.index };
    const variable: Variable = {
      Namespace: write.namespace,
      Path: write.path,
      Items: write.items,
      Lock: acquire ? (write.lock ?? null) : (existing?.Lock ?? null),
      CreateIndex: existing?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
      CreateTime: existing?.CreateTime ?? nanos(now),
      ModifyTime: nanos(now),
    };
    tx.put("variables", variable);
    return { kind: "written", variable, index: tx.index };
  });
}

/** Deletes a variable; one that is not there is no error, unless an index is given. */
export function deleteVariable(state: State, namespace: string, path: string, cas: number | undefined): Outcome {
  const key = scoped(namespace, path);
  const existing = state.variables.get(key);
  return state.write("VarApply", (tx): Outcome => {
    if (cas !== undefined) {
      if (existing === undefined && cas === 0) return { kind: "deleted", index: tx.index };
      if (cas === 0 || cas !== existing?.ModifyIndex) return { kind: "conflict", variable: existing, index: tx.index };
    }
    if (foreign(existing, undefined)) return { kind: "conflict", variable: undefined, index: tx.index };
    tx.delete("variables", key);
    return { kind: "deleted", index: tx.index };
  });
}

/** Gives a lock back; the items stay. */
export function releaseLock(state: State, namespace: string, path: string, lockId: string): Outcome {
  const existing = state.variables.get(scoped(namespace, path));
  return state.write("VarApply", (tx): Outcome => {
    if (existing === undefined) return { kind: "failed", text: "variable doesn't exist" };
    if (existing.Lock === null || existing.Lock.ID === "") return { kind: "failed", text: "variable doesn't hold a lock" };
    if (existing.Lock.ID !== lockId) return { kind: "conflict", variable: undefined, index: tx.index };
    return { kind: "written", variable: unlock(tx, existing), index: tx.index };
  });
}

export function unlock(tx: Tx, variable: Variable): Variable {
  const next = { ...variable, Lock: null, ModifyIndex: tx.index };
  tx.put("variables", next);
  return next;
}
