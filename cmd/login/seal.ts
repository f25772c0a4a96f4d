/** Keeps a secret so that only the browser of its session can bring it back. */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM under a key made from the secret of the session, of which nops has only the hash: neither the database nor a backup nor the
 * memory between two requests can open it. `owner` is bound to it, so that it cannot be moved to another session.
 */
export function seal(text: string, sessionSecret: string, owner: string, random: { bytes(length: number): Uint8Array }): string {
  const nonce = random.bytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", keyOf(sessionSecret), nonce).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** The sealed text; `undefined` when it was sealed with something else, or changed. */
export function unseal(sealed: string, sessionSecret: string, owner: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length <= nonceBytes + tagBytes) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(sessionSecret), bytes.subarray(0, nonceBytes));
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

function keyOf(sessionSecret: string): Buffer {
  return Buffer.from(hkdfSync("sha256", sessionSecret, "", "nops: sealed with a session", 32));
}
