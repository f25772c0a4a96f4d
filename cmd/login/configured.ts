/** The ways to log in that `auth.mode` names, with what they stand on. */
import { resolve } from "node:path";
import type { Log } from "../../model/log.ts";
import type { Store } from "../../store/open.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { nomadOptions } from "../operator/nomad-options.ts";
import { secretFile } from "../operator/secret-file.ts";
import { type LocalLogin, localLogin } from "./local.ts";
import { type NomadLogin, nomadLogin } from "./nomad.ts";
import { askNomadOver } from "./nomad-person.ts";
import { type OidcLogin, oidcLogin } from "./oidc.ts";
import { type OidcProvider, oidcProvider } from "./oidc-provider.ts";
import { createPeople, type People } from "./people.ts";
import { openUsersFile } from "./users-file.ts";

export interface PeopleParts {
  readonly config: Config;
  readonly io: CommandIo;
  readonly log: Log;
  readonly store: Store;
  /** Hears every secret that was read from a file. */
  readonly onSecret: (secret: string) => void;
}

/** @throws NopsError `users_unreadable`, `bad_users_file`, `secret_unreadable`. */
export function configuredPeople(parts: PeopleParts): People {
  const { config, store, log } = parts;
  return createPeople({ methods: config.auth.mode, store, log, local: local(parts), nomad: nomad(parts), oidc: oidc(parts) });
}

function local({ config, io, log }: PeopleParts): LocalLogin | undefined {
  const path = config.auth.local.users_file;
  return path === undefined ? undefined : localLogin(openUsersFile(resolve(io.workingDirectory, path), log), config.auth.rules);
}

function nomad({ config, io, log, store }: PeopleParts): NomadLogin | undefined {
  if (!config.auth.mode.includes("nomad")) return undefined;
  const { clock, random } = io;
  const ask = askNomadOver(nomadOptions(config, io, log));
  return nomadLogin({ ask, rules: config.auth.rules, namespaces: config.nomad.namespaces, store, clock, random, log });
}

function oidc(parts: PeopleParts): OidcLogin | undefined {
  const provider = configuredProvider(parts);
  if (provider === undefined) return undefined;
  const { config, io, log } = parts;
  return oidcLogin({ provider, rules: config.auth.rules, clock: io.clock, random: io.random, log });
}

/** The provider that `auth.oidc` names; it is not asked anything yet. @throws NopsError `secret_unreadable`. */
export function configuredProvider({
  config,
  io,
  onSecret,
}: Pick<PeopleParts, "config" | "io" | "onSecret">): OidcProvider | undefined {
  const { issuer, client_id: clientId, client_secret_file: file, groups_claim: groupsClaim } = config.auth.oidc;
  const { public_url: publicUrl } = config.http;
  if (issuer === undefined || clientId === undefined || file === undefined || publicUrl === undefined) return undefined;
  const secret = secretFile(resolve(io.workingDirectory, file), onSecret);
  // A missing file stops the start and not the first login.
  secret.read();
  return oidcProvider({
    issuer,
    clientId,
    clientSecret: () => secret.read(),
    redirectUri: `${publicUrl.replace(/\/+$/, "")}/auth/callback`,
    wantsGroups: config.auth.rules.some((rule) => rule.groups.length > 0),
    groupsClaim,
    clock: io.clock,
  });
}
