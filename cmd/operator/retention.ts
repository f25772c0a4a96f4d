import type { Clock } from "../../model/clock.ts";
import { messageOf } from "../../model/errors.ts";
import type { Log } from "../../model/log.ts";
import type { Store } from "../../store/open.ts";
import type { Config } from "../config/schema.ts";

const dayMs = 24 * 3_600_000;
/** Rarely enough to cost nothing, often enough that a day's setting means a day. */
const everyMs = 3_600_000;

/** Removes what is older than the configuration keeps, and sessions that ended, at once and then every hour. Returns how to stop. */
export function startRetention(
  config: Config,
  store: Pick<Store, "prune" | "pruneSessions">,
  clock: Clock,
  log: Log,
): () => void {
  const policy = { deploymentsMs: config.retention.deployments * dayMs, eventsMs: config.retention.events * dayMs };
  const keepsAll = policy.deploymentsMs === 0 && policy.eventsMs === 0;
  let stopped = false;
  let timer = clock.setTimer(0, () => void look());
  async function look(): Promise<void> {
    try {
      await store.pruneSessions();
      const removed = keepsAll ? undefined : await store.prune(policy);
      if (removed !== undefined && removed.deployments + removed.events > 0) log.info("old records were removed", { ...removed });
    } catch (error) {
      log.error("old records could not be removed", { error: messageOf(error) });
    }
    if (!stopped) timer = clock.setTimer(everyMs, () => void look());
  }
  return () => {
    stopped = true;
    timer.cancel();
  };
}
