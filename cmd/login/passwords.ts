/** Passwords as they are kept: scrypt by node:crypto, which every supported Node has. */
import { type ScryptOptions, scrypt } from "node:crypto";
import PQueue from "p-queue";
import { ApiError } from "../../api/errors.ts";
import { equalSecretly } from "../../model/equal-secretly.ts";

const cost: ScryptOptions = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const prefix = "$scrypt$ln=15,r=8,p=1$";
const saltBytes = 16;
const keyBytes = 32;

// One hash takes a tenth of a second and 32 MiB: a flood of logins must not take the threads that read files.
const hashing = new PQueue({ concurrency: 2 });
const longestQueue = 50;

/** `$scrypt$ln=15,r=8,p=1$SALT$KEY`, base64url. */
export async function hashPassword(password: string, salt: Uint8Array): Promise<string> {
  const key = await derive(password, salt);
  return `${prefix}${Buffer.from(salt).toString("base64url")}$${key.toString("base64url")}`;
}

/** A salt as `hashPassword` takes it. */
export function newSalt(random: { bytes(length: number): Uint8Array }): Uint8Array {
  return random.bytes(saltBytes);
}

/** Whether a text has the form that `hashPassword` makes. */
export function isPasswordHash(text: string): boolean {
  return partsOf(text) !== undefined;
}

/**
 * Whether a password is the one of a hash. Without a hash it costs the same and is false, so that time does not tell who exists.
 * @throws ApiError 429 `too_many_logins` when too many wait already.
 */
export async function passwordMatches(password: string, hash: string | undefined): Promise<boolean> {
  if (hashing.size >= longestQueue)
    throw new ApiError(429, "too_many_logins", "too many logins wait to be checked", { retryAfterMs: 10_000 });
  const known = hash === undefined ? undefined : partsOf(hash);
  const salt = known?.salt ?? Buffer.alloc(saltBytes);
  const key = (await hashing.add(() => derive(password, salt))) as Buffer;
  return equalSecretly(key.toString("base64url"), known?.key ?? "") && known !== undefined;
}

function partsOf(text: string): { readonly salt: Buffer; readonly key: string } | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const [salt = "", key = "", ...more] = text.slice(prefix.length).split("$");
  if (!/^[\w-]{22}$/.test(salt) || !/^[\w-]{43}$/.test(key) || more.length > 0) return undefined;
  return { salt: Buffer.from(salt, "base64url"), key };
}

/** The same letters typed on different keyboards are one password: NFKC. */
function derive(password: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, keyBytes, cost, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
