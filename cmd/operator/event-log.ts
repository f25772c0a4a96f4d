import type { EventRecord } from "../../model/deployment.ts";
import { messageOf } from "../../model/errors.ts";
import type { Log, LogFields } from "../../model/log.ts";

/** What the event log needs of the store. */
export interface EventSource {
  /** @returns the way to stop. */
  onEvents(listener: () => void): () => void;
  /** Oldest first. */
  eventsAfter(id: number, limit: number): Promise<readonly EventRecord[]>;
}

export interface EventLog {
  /** Resolves when all that was recorded before has been written. */
  stop(): Promise<void>;
}

const batch = 100;

/**
 * Writes every event that this process records to its log, failed deployments as warnings: whoever reads the journal of the process
 * sees what it did without asking the API. `after` is the last event of an earlier process.
 */
export function startEventLog(store: EventSource, log: Log, after: number): EventLog {
  let last = after;
  let again = false;
  let running: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    try {
      do {
        again = false;
        for (let found = await store.eventsAfter(last, batch); found.length > 0; found = await store.eventsAfter(last, batch)) {
          for (const event of found) write(log, event);
          last = found.at(-1)?.id ?? last;
        }
      } while (again);
    } catch (error) {
      log.warn("events cannot be read for the log", { error: messageOf(error) });
    } finally {
      running = undefined;
    }
  }

  const stopListening = store.onEvents(() => {
    again = true;
    running ??= Promise.resolve().then(writeAll);
  });
  return {
    stop: async () => {
      stopListening();
      await running;
    },
  };
}

function write(log: Log, event: EventRecord): void {
  if (event.toState === "failed" && event.fromState !== "failed") log.warn("a deployment failed", fieldsOf(event));
  else log.info("an event was recorded", fieldsOf(event));
}

function fieldsOf(event: EventRecord): LogFields {
  const { kind, namespace, jobId: job, deploymentId: deployment, repository, fromState, toState, actor, reason, message } = event;
  const fields = { kind, namespace, job, deployment, repository, from: fromState, to: toState, actor, reason, event: message };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
