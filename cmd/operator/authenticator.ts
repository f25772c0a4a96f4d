/** Whose token is it: the bootstrap token from its file, or one of the database (design D38). */
import type { Authenticator, Principal } from "../../api/ports.ts";
import { tokenCapabilities } from "../../model/capabilities.ts";
import { equalSecretly } from "../../model/equal-secretly.ts";
import { grantOf, type Rights } from "../../model/grant.ts";
import type { SecretFile } from "./secret-file.ts";

/** A token as the database keeps it. */
export interface StoredToken extends Rights {
  readonly id: string;
  readonly name: string;
  /** Identity of the person whose token it is. */
  readonly owner: string | undefined;
}

export interface AuthenticatorOptions {
  /** Whether API tokens count (`auth.mode`). */
  readonly acceptsTokens: boolean;
  readonly session: Authenticator["session"];
  readonly findToken: (secret: string) => Promise<StoredToken | undefined>;
  readonly bootstrap: SecretFile | undefined;
  /** Whether anybody who reaches the address may read; the configuration allows it on loopback only. */
  readonly anonymousRead: boolean;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  return {
    acceptsTokens: options.acceptsTokens,
    session: options.session,
    bearer: async (secret) => {
      if (options.bootstrap !== undefined && equalSecretly(options.bootstrap.read(), secret)) return bootstrapPrincipal;
      const token = await options.findToken(secret);
      return token === undefined ? undefined : principalOf(token);
    },
    anonymous: options.anonymousRead ? anonymousReader : undefined,
  };
}

const bootstrapPrincipal: Principal = {
  actor: { name: "bootstrap token", kind: "token", accessorId: "bootstrap", identity: "token:bootstrap" },
  method: "token",
  grants: [grantOf({ capabilities: tokenCapabilities, namespaces: ["*"] })],
};

const anonymousReader: Principal = {
  actor: { name: "anonymous", kind: "person", identity: "anonymous" },
  method: "anonymous",
  grants: [grantOf({ capabilities: ["read"], namespaces: ["*"] })],
};

function principalOf(token: StoredToken): Principal {
  return {
    actor: { name: token.name, kind: "token", accessorId: token.id, identity: token.owner ?? `token:${token.id}` },
    method: "token",
    grants: [grantOf(token)],
  };
}
