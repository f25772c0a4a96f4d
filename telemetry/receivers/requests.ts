/** How each kind of receiver wants to be told: pure functions from message to HTTP request (operator §23). */
import { detailOf, type NotificationMessage, titleOf } from "./message.ts";

export type ReceiverType = "webhook" | "slack" | "discord" | "ntfy" | "gotify";

export interface ReceiverRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Build = (message: NotificationMessage, token: string | undefined) => ReceiverRequest;

const json = (value: unknown, headers: Readonly<Record<string, string>> = {}): ReceiverRequest => ({
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value),
});

// Discord and Slack refuse longer texts.
const longestText = 1_800;
const cut = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text);

const colours = { failed: 0xd13438, pending_approval: 0xf2a33a, promotion_wait: 0xf2a33a, completed: 0x2e9e5b } as const;
const ntfyPriorities = { failed: "4", pending_approval: "3", promotion_wait: "3", completed: "2" } as const;
const gotifyPriorities = { failed: 8, pending_approval: 5, promotion_wait: 5, completed: 2 } as const;

const builders: Readonly<Record<ReceiverType, Build>> = {
  webhook: (message, token) =>
    json(
      {
        event: message.kind,
        deployment_id: message.deployment.id,
        namespace: message.deployment.namespace,
        job: message.deployment.jobId,
        state: message.deployment.state,
        error: message.deployment.error ?? null,
        commit: message.deployment.commitSha,
        url: message.url ?? null,
        time: message.deployment.updatedAt,
      },
      token === undefined ? {} : { authorization: `Bearer ${token}` },
    ),
  slack: (message) => json({ text: cut(lines(message)) }),
  discord: (message) =>
    json({
      // Nobody is pinged, whatever a commit message says.
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: cut(titleOf(message)),
          description: cut(detailOf(message)),
          color: colours[message.kind],
          ...(message.url === undefined ? {} : { url: message.url }),
        },
      ],
    }),
  ntfy: (message, token) => ({
    headers: {
      title: headerText(titleOf(message)),
      priority: ntfyPriorities[message.kind],
      tags: message.kind,
      ...(message.url === undefined ? {} : { click: message.url }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: cut(detailOf(message)),
  }),
  gotify: (message, token) =>
    json(
      { title: titleOf(message), message: cut(detailOf(message)), priority: gotifyPriorities[message.kind] },
      token === undefined ? {} : { "x-gotify-key": token },
    ),
};

/** The request that tells a receiver. */
export function receiverRequest(type: ReceiverType, message: NotificationMessage, token: string | undefined): ReceiverRequest {
  return builders[type](message, token);
}

function lines(message: NotificationMessage): string {
  return [titleOf(message), detailOf(message), ...(message.url === undefined ? [] : [message.url])].join("\n");
}

/** Headers carry no line breaks and only bytes. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
