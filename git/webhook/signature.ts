import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Headers by lower-case name, as `Headers` of fetch gives them: several of one name come joined, and so match nothing. */
export interface WebhookHeaders {
  get(name: string): string | null;
}

/** Both sides are hashed under it before they are compared, so that neither content nor length shows in the time it takes. */
const comparisonKey = randomBytes(32);

/** Compares two texts in a time that tells nothing about either. */
export function equalSecretly(left: string, right: string): boolean {
  const digest = (text: string) => createHmac("sha256", comparisonKey).update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

/** Lower-case hex HMAC-SHA-256 of the raw body. */
export function hmacHex(rawBody: Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(rawBody).digest("hex");
}
