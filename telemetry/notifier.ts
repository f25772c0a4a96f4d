/** Empties the outbox of notifications (operator §23): each receiver at least once, with growing delays; no failure touches the engine. */
import got from "got";
import type { Clock, Timer } from "../model/clock.ts";
import { toInstant } from "../model/clock.ts";
import type { Deployment } from "../model/deployment.ts";
import { messageOf } from "../model/errors.ts";
import type { Log } from "../model/log.ts";
import { type MailAddresses, sendMail } from "./receivers/mail.ts";
import type { NotificationMessage } from "./receivers/message.ts";
import { type ReceiverType, receiverRequest } from "./receivers/requests.ts";

interface AnyReceiver {
  /** Unique name; used to remember who was told already. */
  readonly name: string;
  /** Read before each use, so that a changed file counts at once. */
  readonly url: () => string;
  wants(message: NotificationMessage): boolean;
}

export interface HttpReceiver extends AnyReceiver {
  readonly type: ReceiverType;
  readonly token: () => string | undefined;
}

export interface MailReceiver extends AnyReceiver, MailAddresses {
  readonly type: "email";
}

export type Receiver = HttpReceiver | MailReceiver;

/** The store's part: notifications written with the moves they tell of. */
export interface NotificationQueue {
  claimNotifications(limit: number): Promise<readonly QueuedNotification[]>;
  markDelivered(id: number): Promise<void>;
  markFailed(
    id: number,
    failure: { readonly error: string; readonly retryAt?: string | undefined; readonly deliveredTo?: readonly string[] },
  ): Promise<void>;
}

export interface QueuedNotification {
  readonly id: number;
  readonly kind: NotificationMessage["kind"];
  readonly deployment: NotificationMessage["deployment"];
  readonly attempt: number;
  readonly deliveredTo: readonly string[];
}

export interface NotifierOptions {
  readonly queue: NotificationQueue;
  readonly receivers: readonly Receiver[];
  readonly publicUrl: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly onFailure: (receiver: string) => void;
}

const batch = 20;
const lastAttempt = 13;
const firstDelayMs = 5_000;
const longestDelayMs = 600_000;
/** Longest time for telling one receiver once, whatever it does meanwhile, ms. */
const patienceMs = 10_000;
/** The same once nops is to stop, ms. */
const stopPatienceMs = 2_000;

/** Where a deployment is while it waits for a person. Once it went on, nobody is asked to look by a message that comes late. */
const waitingStates: Partial<Record<NotificationMessage["kind"], Deployment["state"]>> = {
  pending_approval: "pending_approval",
  promotion_wait: "applying",
};

/** Sends what waits. `wake` is called when something may have been added; without it a look is taken every 30 s. */
export class Notifier {
  readonly #options: NotifierOptions;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  readonly #underWay = new Set<AbortController>();

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Sends everything that is due; never rejects. */
  wake(): void {
    if (this.#stopped || this.#running !== undefined) return;
    this.#timer?.cancel();
    this.#running = this.#drain().finally(() => {
      this.#running = undefined;
      if (!this.#stopped) this.#timer = this.#options.clock.setTimer(30_000, () => this.wake());
    });
  }

  /** Stops looking; resolves when the requests under way ended, which are cut off soon. What was not told is told after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    const limit = this.#options.clock.setTimer(stopPatienceMs, () => {
      for (const request of this.#underWay) request.abort();
    });
    await this.#running;
    limit.cancel();
  }

  async #drain(): Promise<void> {
    const { queue, log } = this.#options;
    const hung = new Set<string>();
    try {
      for (;;) {
        const due = await queue.claimNotifications(batch);
        for (const notification of due) {
          // What is claimed and not reported is handed out again.
          if (this.#stopped) return;
          await this.#deliver(notification, hung);
        }
        if (due.length < batch) return;
      }
    } catch (error) {
      log.error("notifications cannot be read", { error });
    }
  }

  /** All receivers at once, so that one that is slow keeps nobody else waiting. */
  async #deliver(notification: QueuedNotification, hung: Set<string>): Promise<void> {
    const { queue, receivers, clock, publicUrl } = this.#options;
    const waitsIn = waitingStates[notification.kind];
    if (notification.attempt > 1 && waitsIn !== undefined && notification.deployment.state !== waitsIn)
      return queue.markDelivered(notification.id);
    const url =
      publicUrl === undefined ? undefined : `${publicUrl.replace(/\/+$/, "")}/deployments/${notification.deployment.id}`;
    const message: NotificationMessage = { kind: notification.kind, deployment: notification.deployment, url };
    const wanted = receivers.filter(({ name, wants }) => !notification.deliveredTo.includes(name) && wants(message));
    const failures = await Promise.all(wanted.map((receiver) => this.#send(receiver, message, hung)));
    const failed = wanted.flatMap(({ name }, at) => (failures[at] === undefined ? [] : [`${name}: ${failures[at]}`]));
    if (failed.length === 0) return queue.markDelivered(notification.id);
    const told = wanted.filter((_, at) => failures[at] === undefined).map(({ name }) => name);
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** (notification.attempt - 1));
    const retryAt = notification.attempt >= lastAttempt && !this.#stopped ? undefined : toInstant(clock.now() + delay);
    await queue.markFailed(notification.id, {
      error: failed.join("; "),
      retryAt,
      deliveredTo: [...notification.deliveredTo, ...told],
    });
  }

  /**
   * What went wrong, in words without the URL, which may hold a secret; `undefined` when the receiver took it. One that `hung` is not asked
   * again in the same round, else each notification that waits would cost the others its time.
   */
  async #send(receiver: Receiver, message: NotificationMessage, hung: Set<string>): Promise<string | undefined> {
    const { log, onFailure, clock } = this.#options;
    if (hung.has(receiver.name)) return "hung just before";
    const over = new AbortController();
    const limit = clock.setTimer(patienceMs, () => over.abort());
    this.#underWay.add(over);
    const failure = await failureOf(receiver, message, over.signal);
    this.#underWay.delete(over);
    limit.cancel();
    if (failure === undefined) return undefined;
    if (over.signal.aborted) hung.add(receiver.name);
    const cause = over.signal.aborted ? "did not take it in time" : failure;
    onFailure(receiver.name);
    log.warn("notification not delivered", { receiver: receiver.name, deployment_id: message.deployment.id, cause });
    return cause;
  }
}

async function failureOf(receiver: Receiver, message: NotificationMessage, signal: AbortSignal): Promise<string | undefined> {
  try {
    if (receiver.type !== "email") return await post(receiver, message, signal);
    await sendMail(receiver.url(), receiver, message, signal);
    return undefined;
  } catch (error) {
    const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
    if (typeof code !== "string") return messageOf(error).replace(/\b[a-z]+:\/\/\S+/g, "<url>");
    return typeof responseCode === "number" ? `${code} ${responseCode}` : code;
  }
}

async function post(receiver: HttpReceiver, message: NotificationMessage, signal: AbortSignal): Promise<string | undefined> {
  const { headers, body } = receiverRequest(receiver.type, message, receiver.token());
  const answer = await got.post(receiver.url(), {
    headers,
    body,
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    signal,
  });
  return answer.statusCode >= 200 && answer.statusCode < 300 ? undefined : `answered ${answer.statusCode}`;
}
