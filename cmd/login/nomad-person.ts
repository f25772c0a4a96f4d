/** Asks Nomad whose a token is and what it may do, with that token itself. */
import { NomadError } from "../../model/errors.ts";
import type { NamespaceRule } from "../../nomad/acl.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";
import type { NomadClientOptions } from "../../nomad/options.ts";

/** What Nomad says about a token, without the token. */
export interface NomadPerson {
  readonly accessor: string;
  readonly name: string;
  readonly management: boolean;
  readonly policies: readonly string[];
  readonly rules: readonly NamespaceRule[];
  /** Milliseconds since the epoch; `undefined`: the token does not expire. */
  readonly expiresAt: number | undefined;
}

/** `unknown`: Nomad knows no such token. `acls_off`: it takes any text for a token, and says so only in a field (S28). */
export type NomadAnswer = NomadPerson | "unknown" | "acls_off";

/** @throws NomadError when Nomad cannot be asked. */
export type AskNomad = (token: string) => Promise<NomadAnswer>;

const patienceMs = 8_000;
const secretId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** More policies than anybody has; whoever has more gets the rights of the first ones. */
const mostPolicies = 100;

export function askNomadOver(options: NomadClientOptions): AskNomad {
  return async (token) => {
    // Anything else a server takes for a workload's identity, and fails over it as if it were broken itself.
    if (!secretId.test(token)) return "unknown";
    // A client of its own: what somebody brings must never be taken for the token of nops, nor the other way round.
    const client = createNomadClient({
      ...options,
      token,
      tokenFile: undefined,
      loginAuthMethod: undefined,
      timeoutMs: patienceMs,
    });
    try {
      return await ask(client);
    } finally {
      client.close();
    }
  };
}

async function ask(client: NomadClient): Promise<NomadAnswer> {
  const token = await unlessUnknown(() => client.aclTokenSelf());
  if (token === undefined || token.AccessorID === "anonymous" || token.AccessorID === "") return "unknown";
  if (token.AccessorID === "acls-disabled") return "acls_off";
  const management = token.Type === "management";
  const policies = management ? [] : (await client.aclPolicyNames()).slice(0, mostPolicies);
  const rules = (await Promise.all(policies.map((name) => client.aclPolicyRules(name)))).flat();
  const expires = Date.parse(token.ExpirationTime ?? "");
  return {
    accessor: token.AccessorID,
    name: token.Name.trim() === "" ? token.AccessorID.slice(0, 8) : token.Name.trim().slice(0, 100),
    management,
    policies,
    rules,
    expiresAt: Number.isNaN(expires) ? undefined : expires,
  };
}

/** An unknown token is refused as one without rights; a workload's identity is no token of a person and is not found. */
async function unlessUnknown<T>(call: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof NomadError && error.kind === "not_permitted") return undefined;
    throw error;
  }
}
