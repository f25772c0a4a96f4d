import { createHmac } from "node:crypto";

/** Headers by lower-case name, as `Headers` of fetch gives them: several of one name come joined, and so match nothing. */
export interface WebhookHeaders {
  get(name: string): string | null;
}

/** Lower-case hex HMAC-SHA-256 of the raw body. */
export function hmacHex(rawBody: Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(rawBody).digest("hex");
}
