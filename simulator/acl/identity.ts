import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import type { Allocation } from "../state/types.ts";
import type { Workload } from "./compile.ts";

export interface IdentityOptions {
  readonly name?: string;
  readonly audience?: readonly string[];
  readonly ttlSeconds?: number;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Signs and reads workload identities. The key is made when it is first needed. */
export class Identities {
  #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly id: string } | undefined;

  #key() {
    if (this.#keys === undefined) {
      const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
      const der = pair.publicKey.export({ type: "spki", format: "der" });
      this.#keys = { ...pair, id: createHash("sha256").update(der).digest("hex").slice(0, 32) };
    }
    return this.#keys;
  }

  /** The JWT of one task of an allocation. `ttlSeconds` undefined: it does not expire. */
  issue(alloc: Allocation, task: string, now: number, options: IdentityOptions = {}): string {
    const iat = Math.floor(now / 1000);
    const name = options.name ?? "default";
    const parent = alloc.Job.ParentID === "" ? alloc.JobID : alloc.Job.ParentID;
    const claims: Claims = {
      aud: options.audience ?? ["nomadproject.io"],
      iat,
      nbf: iat,
      jti: createHash("sha256").update(`${alloc.ID}${task}${name}${iat}`).digest("hex").slice(0, 32),
      nomad_namespace: alloc.Namespace,
      nomad_job_id: parent,
      nomad_allocation_id: alloc.ID,
      nomad_task: task,
      sub: `${alloc.Job.Region}:${alloc.Namespace}:${parent}:${alloc.TaskGroup}:${task}:${name}`,
      ...(options.ttlSeconds === undefined ? {} : { exp: iat + options.ttlSeconds }),
    };
    return this.sign(claims);
  }

  sign(claims: Claims): string {
    const { privateKey, id } = this.#key();
    const head = part({ alg: "RS256", kid: id, typ: "JWT" });
    const body = `${head}.${part(claims)}`;
    return `${body}.${sign("RSA-SHA256", Buffer.from(body), privateKey).toString("base64url")}`;
  }

  /** The claims of a JWT that this server signed and that is still good, else undefined. `now` in milliseconds. */
  own(token: string, now: number): Claims | undefined {
    if (this.#keys === undefined) return undefined;
    return verified(token, [this.#keys.publicKey], now);
  }

  /** What `/.well-known/jwks.json` shows. */
  jwks(): unknown {
    const { publicKey, id } = this.#key();
    return { keys: [{ ...publicKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: id }] };
  }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** The claims of a JWT whose signature one of the keys made and whose times are right. */
export function verified(token: string, keys: readonly KeyObject[], now: number): Claims | undefined {
  const [head, body, signature, ...rest] = token.split(".");
  if (head === undefined || body === undefined || signature === undefined || rest.length > 0) return undefined;
  const bytes = Buffer.from(signature, "base64url");
  const good = keys.some((key) => {
    try {
      const algorithm = key.asymmetricKeyType === "ed25519" ? null : "RSA-SHA256";
      return verify(algorithm, Buffer.from(`${head}.${body}`), key, bytes);
    } catch {
      return false;
    }
  });
  if (!good) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as Claims;
    const seconds = now / 1000;
    const { exp, nbf } = claims;
    if (typeof exp === "number" && exp <= seconds) return undefined;
    if (typeof nbf === "number" && nbf > seconds + 60) return undefined;
    return claims;
  } catch {
    return undefined;
  }
}

/** Keys of a list of PEM texts; unreadable ones are left out. */
export function pemKeys(texts: readonly string[]): KeyObject[] {
  return texts.flatMap((text) => {
    try {
      return [createPublicKey(text)];
    } catch {
      return [];
    }
  });
}

/** The workload of an identity's claims. */
export function workloadOf(claims: Claims, alloc: Allocation): Workload {
  const task = claims["nomad_task"];
  const job = claims["nomad_job_id"];
  return {
    namespace: alloc.Namespace,
    jobId: typeof job === "string" ? job : alloc.JobID,
    group: alloc.TaskGroup,
    task: typeof task === "string" ? task : "",
  };
}
