import { equalSecretly } from "../../model/equal-secretly.ts";
import { hmacHex, type WebhookHeaders } from "./signature.ts";

export type Forge = "github" | "gitea" | "forgejo" | "gogs" | "gitlab" | "bitbucket" | "generic";

/** How one forge proves that it knows the secret. */
interface ForgeFormat {
  readonly forge: Forge;
  /** Header that carries the proof. */
  readonly header: string;
  /** `prefixed`: `sha256=` and the HMAC of the body in hex; `bare`: without the prefix; `token`: the secret itself. */
  readonly proof: "prefixed" | "bare" | "token";
  readonly event: string;
  readonly delivery: string;
}

/**
 * In the order in which they are looked for: some forges send the headers of others beside their own. Bitbucket's header is
 * GitHub's old one, which GitHub fills with a SHA-1; that never passes as `sha256=`.
 */
const formats: readonly ForgeFormat[] = [
  { forge: "forgejo", header: "x-forgejo-signature", proof: "bare", event: "x-forgejo-event", delivery: "x-forgejo-delivery" },
  { forge: "gitea", header: "x-gitea-signature", proof: "bare", event: "x-gitea-event", delivery: "x-gitea-delivery" },
  { forge: "gogs", header: "x-gogs-signature", proof: "bare", event: "x-gogs-event", delivery: "x-gogs-delivery" },
  { forge: "github", header: "x-hub-signature-256", proof: "prefixed", event: "x-github-event", delivery: "x-github-delivery" },
  { forge: "gitlab", header: "x-gitlab-token", proof: "token", event: "x-gitlab-event", delivery: "x-gitlab-event-uuid" },
  { forge: "bitbucket", header: "x-hub-signature", proof: "prefixed", event: "x-event-key", delivery: "x-request-uuid" },
  { forge: "generic", header: "x-nops-signature-256", proof: "prefixed", event: "x-nops-event", delivery: "x-nops-delivery" },
];

/**
 * Whether a webhook's sender knows the secret (operator §22.7, reliability S33–S35). The first proof in the headers decides;
 * there is no second try with another. Looks only at the raw bytes: the payload is never parsed, and a valid call means no more
 * than "look at the repository that the address names". Never throws. An empty secret verifies nothing.
 */
export function verifyWebhook(headers: WebhookHeaders, rawBody: Uint8Array, secret: string): boolean {
  const found = findFormat(headers);
  if (found === undefined || secret === "") return false;
  const { format, value } = found;
  if (format.proof === "token") return equalSecretly(value, secret);
  const digest = hmacHex(rawBody, secret);
  return equalSecretly(value, format.proof === "prefixed" ? `sha256=${digest}` : digest);
}

/** What a webhook says about itself, for the log: unproven, cut to 64 printable ASCII characters. */
export interface WebhookOrigin {
  readonly forge: Forge;
  readonly event: string | undefined;
  /** The forge's own id of the call, the same when it is sent again. */
  readonly delivery: string | undefined;
}

/** Names the forge by its headers; `undefined` when none carries a proof. */
export function webhookOrigin(headers: WebhookHeaders): WebhookOrigin | undefined {
  const format = findFormat(headers)?.format;
  if (format === undefined) return undefined;
  const read = (name: string) =>
    headers
      .get(name)
      ?.replace(/[^\x20-\x7e]/g, "")
      .slice(0, 64) || undefined;
  return { forge: format.forge, event: read(format.event), delivery: read(format.delivery) };
}

function findFormat(headers: WebhookHeaders): { readonly format: ForgeFormat; readonly value: string } | undefined {
  for (const format of formats) {
    const value = headers.get(format.header);
    if (value !== null) return { format, value };
  }
  return undefined;
}
