/** The section `auth`: how people and programs prove who they are, and what people may do. */
import { z } from "zod";
import { tokenCapabilities } from "../../model/capabilities.ts";
import { isNamespacePattern } from "../../model/namespace-pattern.ts";
import { optionalText, textList } from "./parts.ts";

/** What `auth.mode` may name. */
export const authModes = ["token", "local", "nomad"] as const;

const notBuilt = ["oidc"];

function modeError(issue: { readonly input?: unknown }): string {
  const given = [issue.input].flat();
  const missing = given.find((one) => notBuilt.includes(String(one)));
  if (missing !== undefined) return `"${String(missing)}" is not part of this version: ${authModes.join(", ")} are`;
  return `must be ${authModes.join(", ")}, or a list of them`;
}

const mode = z.enum(authModes, { error: modeError });

const rule = z.strictObject({
  users: textList.default([]).describe("People, as METHOD:NAME such as local:anna; local:* is whoever logs in so"),
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
  rules: z.array(rule).default([]).describe("What people who log in may do; the rules that name somebody add up"),
});
