import { NopsError } from "../../model/errors.ts";
import { repairJournal } from "../journal/aggregate.ts";
import { planDeploy } from "../pipeline/deploy.ts";
import { withLocks } from "./locks.ts";
import type { Session } from "./session.ts";

/** `nops deploy state`: the journal for people (workspace §12). */

/** Deletes the journal, pending operations included. @returns whether there was one. @throws NopsError `cancelled`. */
export async function clearState(session: Session): Promise<boolean> {
  return withLocks(session.host, ["deploy"], async () => {
    if (!session.store.exists()) return false;
    const { prompt, assumeYes } = session.host;
    if (!assumeYes && prompt.interactive && !(await prompt.confirm("Delete the deploy state? Every step will run again."))) {
      throw new NopsError("cancelled", { code: "cancelled" });
    }
    return session.store.remove();
  });
}

/** Rebuilds statuses from the step records. */
export async function repairState(session: Session): Promise<"absent" | "repaired" | "sound"> {
  return withLocks(session.host, ["deploy"], async () => {
    if (!session.store.exists()) return "absent";
    const tracked = new Set(planDeploy(session.resolve).tracked);
    return session.store.mutate((journal) => repairJournal(journal, tracked)) ? "repaired" : "sound";
  });
}
