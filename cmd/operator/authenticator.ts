/** Whose token is it: the bootstrap token from its file, or one of the database (design D38). */
import type { Authenticator, Principal } from "../../api/ports.ts";
import { type TokenCapability, tokenCapabilities } from "../../model/capabilities.ts";
import { equalSecretly } from "../../model/equal-secretly.ts";
import { createGlob } from "../../model/glob.ts";
import type { SecretFile } from "./secret-file.ts";

/** A token as the database keeps it. */
export interface StoredToken {
  readonly id: string;
  readonly name: string;
  readonly capabilities: readonly TokenCapability[];
  readonly namespaces: readonly string[];
}

export interface AuthenticatorOptions {
  readonly findToken: (secret: string) => Promise<StoredToken | undefined>;
  readonly bootstrap: SecretFile | undefined;
  /** Whether anybody who reaches the address may read; the configuration allows it on loopback only. */
  readonly anonymousRead: boolean;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  return {
    bearer: async (secret) => {
      if (options.bootstrap !== undefined && equalSecretly(options.bootstrap.read(), secret)) return bootstrapPrincipal;
      const token = await options.findToken(secret);
      return token === undefined ? undefined : principalOf(token);
    },
    anonymous: options.anonymousRead ? anonymousReader : undefined,
  };
}

const everywhere = { covers: () => true, everywhere: true } as const;

const bootstrapPrincipal: Principal = {
  actor: { name: "bootstrap token", kind: "token", accessorId: "bootstrap", identity: "token:bootstrap" },
  capabilities: new Set(tokenCapabilities),
  ...everywhere,
};

const anonymousReader: Principal = {
  actor: { name: "anonymous", kind: "person", identity: "anonymous" },
  capabilities: new Set(["read"] as const),
  ...everywhere,
};

function principalOf(token: StoredToken): Principal {
  const globs = token.namespaces.map((pattern) => createGlob(pattern));
  return {
    actor: { name: token.name, kind: "token", accessorId: token.id, identity: `token:${token.id}` },
    capabilities: new Set(token.capabilities),
    covers: (namespace) => globs.some((matches) => matches(namespace)),
    everywhere: token.namespaces.includes("*"),
  };
}
