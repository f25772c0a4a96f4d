import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Both sides are hashed under it before they are compared, so that neither content nor length shows in the time it takes. */
const comparisonKey = randomBytes(32);

/** Compares two texts in a time that tells nothing about either (S40). The only comparison of secrets: tokens, signatures. */
export function equalSecretly(left: string, right: string): boolean {
  const digest = (text: string) => createHmac("sha256", comparisonKey).update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
