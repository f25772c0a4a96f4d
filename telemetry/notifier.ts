/** Empties the outbox of notifications (operator §23): each receiver at least once, with growing delays; no failure touches the engine. */
import got from "got";
import type { Clock, Timer } from "../model/clock.ts";
import { toInstant } from "../model/clock.ts";
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
  /** Longest time one request may take, ms. */
  readonly timeoutMs?: number;
}

const batch = 20;
const lastAttempt = 8;
const firstDelayMs = 5_000;
const longestDelayMs = 600_000;

/** Sends what waits. `wake` is called when something may have been added; without it a look is taken every 30 s. */
export class Notifier {
  readonly #options: NotifierOptions;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

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

  /** Stops looking; resolves when the request under way ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { queue, log } = this.#options;
    try {
      for (;;) {
        const due = await queue.claimNotifications(batch);
        for (const notification of due) await this.#deliver(notification);
        if (due.length < batch || this.#stopped) return;
      }
    } catch (error) {
      log.error("notifications cannot be read", { error });
    }
  }

  async #deliver(notification: QueuedNotification): Promise<void> {
    const { queue, receivers, clock, publicUrl } = this.#options;
    const url =
      publicUrl === undefined ? undefined : `${publicUrl.replace(/\/+$/, "")}/deployments/${notification.deployment.id}`;
    const message: NotificationMessage = { kind: notification.kind, deployment: notification.deployment, url };
    const delivered = [...notification.deliveredTo];
    const failures: string[] = [];
    for (const receiver of receivers) {
      if (delivered.includes(receiver.name) || !receiver.wants(message)) continue;
      const failure = await this.#send(receiver, message);
      if (failure === undefined) delivered.push(receiver.name);
      else failures.push(`${receiver.name}: ${failure}`);
    }
    if (failures.length === 0) return queue.markDelivered(notification.id);
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** (notification.attempt - 1));
    const retryAt = notification.attempt >= lastAttempt ? undefined : toInstant(clock.now() + delay);
    await queue.markFailed(notification.id, { error: failures.join("; "), retryAt, deliveredTo: delivered });
  }

  /** What went wrong, in words without the URL, which may hold a secret; `undefined` when the receiver took it. */
  async #send(receiver: Receiver, message: NotificationMessage): Promise<string | undefined> {
    const { log, onFailure, timeoutMs } = this.#options;
    const failure = await failureOf(receiver, message, timeoutMs ?? 10_000);
    if (failure === undefined) return undefined;
    onFailure(receiver.name);
    log.warn("notification not delivered", { receiver: receiver.name, deployment_id: message.deployment.id, cause: failure });
    return failure;
  }
}

async function failureOf(receiver: Receiver, message: NotificationMessage, timeoutMs: number): Promise<string | undefined> {
  try {
    if (receiver.type !== "email") return await post(receiver, message, timeoutMs);
    await sendMail(receiver.url(), receiver, message, timeoutMs);
    return undefined;
  } catch (error) {
    const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
    if (typeof code !== "string") return messageOf(error).replace(/\b[a-z]+:\/\/\S+/g, "<url>");
    return typeof responseCode === "number" ? `${code} ${responseCode}` : code;
  }
}

async function post(receiver: HttpReceiver, message: NotificationMessage, timeoutMs: number): Promise<string | undefined> {
  const { headers, body } = receiverRequest(receiver.type, message, receiver.token());
  const answer = await got.post(receiver.url(), {
    headers,
    body,
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: { request: timeoutMs },
  });
  return answer.statusCode >= 200 && answer.statusCode < 300 ? undefined : `answered ${answer.statusCode}`;
}
