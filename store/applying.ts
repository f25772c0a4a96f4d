import { type Deployment, engineActor } from "../model/deployment.ts";
import { ConflictError } from "../model/errors.ts";
import type { Connection } from "./connection.ts";
import type { DeploymentChange, Deployments } from "./deployments.ts";
import type { EventLog } from "./events.ts";
import type { Outbox } from "./outbox.ts";

/** What a proved register looks like. */
export interface Applied {
  readonly index: number;
  readonly jobVersion: number | undefined;
  readonly evalId: string | undefined;
}

/** What applying stores without a change of state; see `ApplyPort`. */
export class Applying {
  readonly #connection: Connection;
  readonly #deployments: Deployments;
  readonly #events: EventLog;
  readonly #outbox: Outbox;

  constructor(connection: Connection, deployments: Deployments, events: EventLog, outbox: Outbox) {
    this.#connection = connection;
    this.#deployments = deployments;
    this.#events = events;
    this.#outbox = outbox;
  }

  async recordApplied(id: string, version: number, applied: Applied): Promise<Deployment> {
    return this.#connection.write(() => {
      const current = this.#applying(id, version);
      if (current.appliedIndex !== undefined && current.appliedIndex !== applied.index) {
        throw new ConflictError(`deployment ${id} was already applied at index ${current.appliedIndex}`, { code: "not_allowed" });
      }
      const change: DeploymentChange = { appliedIndex: applied.index };
      if (applied.jobVersion !== undefined) change.appliedVersion = applied.jobVersion;
      // Periodic and parameterized jobs answer with an empty evaluation.
      if (applied.evalId !== undefined && applied.evalId !== "") change.evalId = applied.evalId;
      const asVersion = applied.jobVersion === undefined ? "" : ` as version ${applied.jobVersion}`;
      const message = `registered at index ${applied.index}${asVersion}`;
      return this.#deployments.changeWithin(current, change, { kind: "applied", actor: engineActor, reason: "applied", message });
    });
  }

  async recordPromotionWait(id: string, version: number): Promise<Deployment> {
    return this.#connection.write(() => {
      const current = this.#applying(id, version);
      if (current.promotionWaitSince !== undefined) return current;
      const change = { promotionWaitSince: this.#connection.now() };
      const message = "the canaries are healthy and wait for a person's promotion";
      const changed = this.#deployments.changeWithin(current, change, {
        kind: "promotion_wait",
        actor: engineActor,
        reason: "awaiting_promotion",
        message,
      });
      this.#outbox.add("promotion_wait", id, this.#events.head().seq);
      return changed;
    });
  }

  async recordPromoted(id: string, version: number): Promise<Deployment> {
    return this.#connection.write(() => {
      const current = this.#applying(id, version);
      if (current.promotedAt !== undefined) return current;
      return this.#deployments.changeWithin(
        current,
        { promotedAt: this.#connection.now() },
        { kind: "promoted", actor: engineActor, reason: "promoted", message: "the canaries were promoted" },
      );
    });
  }

  async recordRescheduleIntent(id: string): Promise<boolean> {
    return this.#connection.write(() => {
      const current = this.#deployments.require(id);
      if (this.#deployments.rescheduleIntentAt(id) !== undefined) return false;
      this.#deployments.changeWithin(
        current,
        { rescheduleIntentAt: this.#connection.now() },
        {
          kind: "reschedule_requested",
          actor: engineActor,
          reason: "reschedule_requested",
          message: "Nomad will be asked to place the job again",
        },
      );
      return true;
    });
  }

  #applying(id: string, version: number): Deployment {
    const current = this.#deployments.requireVersion(id, version);
    if (current.state === "applying") return current;
    throw new ConflictError(`deployment ${id} is ${current.state}, not applying`, { code: "not_allowed" });
  }
}
