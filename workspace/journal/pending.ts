import { InvalidRequestError } from "../../model/errors.ts";
import type { Journal, PendingKind, PendingOperation } from "./types.ts";

/** Operations that a person still owes after switching services (workspace §13). */

/** One wish to note: `deploy` names its services, `restart` none. */
export interface PendingWish {
  readonly kind: PendingKind;
  readonly services?: readonly string[];
}

/**
 * Merges wishes into the journal: one operation of each kind, service lists united, sorted and free of doubles;
 * time and hash stay those of the first. All or nothing.
 * @throws InvalidRequestError `unknown_kind` before anything is changed.
 * @returns whether the journal changed.
 */
export function addPending(
  journal: Journal,
  wishes: readonly PendingWish[],
  stamp: { readonly now: string; readonly configHash: string | undefined },
): boolean {
  for (const wish of wishes) {
    if (wish.kind !== "restart" && wish.kind !== "deploy") {
      throw new InvalidRequestError(`unknown kind of pending operation: ${String(wish.kind)}`, { code: "unknown_kind" });
    }
  }
  const before = JSON.stringify(journal.pending);
  for (const wish of wishes) {
    journal.pending ??= {
      operations: [],
      ...(stamp.configHash === undefined ? {} : { config_hash: stamp.configHash }),
      created_at: stamp.now,
    };
    mergeInto(journal.pending.operations, wish);
  }
  return JSON.stringify(journal.pending) !== before;
}

function mergeInto(operations: PendingOperation[], wish: PendingWish): void {
  const present = operations.find((operation) => operation.kind === wish.kind);
  if (wish.kind === "restart") {
    if (present === undefined) operations.push({ kind: "restart" });
    return;
  }
  const services = [...new Set([...(present?.services ?? []), ...(wish.services ?? [])])].sort();
  if (present === undefined) operations.push({ kind: "deploy", services });
  else present.services = services;
}

/**
 * Takes done work off the list: `restart` as a whole, `deploy` by service. What is not listed changes nothing; an empty
 * list disappears. @returns whether the journal changed.
 */
export function clearPending(journal: Journal, done: PendingWish): boolean {
  const { pending } = journal;
  if (pending === undefined) return false;
  const before = JSON.stringify(pending);
  pending.operations = pending.operations.flatMap((operation) => {
    if (operation.kind !== done.kind) return [operation];
    if (operation.kind === "restart") return [];
    const left = (operation.services ?? []).filter((name) => !(done.services ?? []).includes(name));
    return left.length === 0 ? [] : [{ ...operation, services: left }];
  });
  if (pending.operations.length === 0) delete journal.pending;
  return journal.pending === undefined || JSON.stringify(pending) !== before;
}

/** Whether any deploy was ever tried here: only then is there something to be pending against. */
export function everAttempted(journal: Journal): boolean {
  return (
    journal.project.last_run !== undefined ||
    journal.project.status !== "not_deployed" ||
    Object.values(journal.services).some((service) => service.status !== "not_deployed")
  );
}
