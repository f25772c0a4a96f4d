/** The section `auth`: how people and programs prove who they are, and what people may do. */
import { z } from "zod";
import { tokenCapabilities } from "../../model/capabilities.ts";
import { loginMethods } from "../../model/login.ts";
import { isNamespacePattern } from "../../model/namespace-pattern.ts";
import { optionalText, textList } from "./parts.ts";

/** What `auth.mode` may name. */
const authModes = ["token", ...loginMethods] as const;

const modeError = (): string => `must be ${authModes.join(", ")}, or a list of them`;

const mode = z.enum(authModes, { error: modeError });

const rule = z.strictObject({
  users: textList.default([]).describe("People, as METHOD:NAME such as local:anna; local:* is whoever logs in so"),
  groups: textList.default([]).describe("People of whom the OIDC provider says that they are in one of these groups"),
  nomad_policies: textList
    .default([])
    .describe("People whose Nomad token has one of these policies, beside what the policies give by themselves"),
  capabilities: z
    .array(z.enum(tokenCapabilities, { error: `must be one of ${tokenCapabilities.join(", ")}` }))
    .min(1, "must name at least one")
    .describe("What they may do"),
  namespaces: z
    .array(z.string().refine(isNamespacePattern, "is no pattern of namespaces"))
    .min(1)
    .default(["*"])
    .describe("Namespace patterns in which they may"),
});

export const auth = z.strictObject({
  mode: z
    .union([mode, z.array(mode).min(1, { error: modeError })], { error: modeError })
    .prefault("token")
    .transform((given) => [...new Set([given].flat())])
    .describe("How people and programs prove who they are"),
  bootstrap_token_file: optionalText.describe("File with one token that may do everything, for automation"),
  anonymous_read: z
    .boolean()
    .default(false)
    .describe("Let anybody who reaches the address read; refused unless it listens on loopback"),
  local: z
    .strictObject({
      users_file: optionalText.describe(
        "File with a line NAME:HASH for each person, by nops user hash; read again when it changes",
      ),
    })
    .prefault({}),
  oidc: z
    .strictObject({
      issuer: optionalText.describe("Issuer of the OpenID Connect provider, exactly as it names itself"),
      client_id: optionalText.describe(
        "Client that is registered there for nops, with the redirect URI PUBLIC_URL/auth/callback",
      ),
      client_secret_file: optionalText.describe("File with the client's secret; read again when it changes"),
      groups_claim: z.string().min(1).default("groups").describe("Claim that holds a person's groups"),
    })
    .prefault({}),
  rules: z.array(rule).default([]).describe("What people who log in may do; the rules that name somebody add up"),
});
