/** Who could come in, and whether anybody could do anything. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../model/errors.ts";
import { databasePath } from "../../store/backup.ts";
import { openStore } from "../../store/open.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { configuredProvider } from "../login/configured.ts";
import { askNomadOver } from "../login/nomad-person.ts";
import { parseUsers } from "../login/users-file.ts";
import { nomadOptions } from "../operator/nomad-options.ts";
import { plural } from "../output.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

export async function checkLogins(config: Config, io: CommandIo): Promise<readonly Finding[]> {
  const findings =
    config.auth.local.users_file === undefined ? [] : checkUsers(resolve(io.workingDirectory, config.auth.local.users_file));
  const nomad = config.auth.mode.includes("nomad") ? await checkAcls(config, io) : [];
  return [...findings, ...nomad, ...(await checkProvider(config, io)), ...(await checkAnybody(config, io))];
}

function checkUsers(path: string): Finding[] {
  // A file that cannot be read is told with the other files.
  if (!existsSync(path)) return [];
  const { users, problems } = parseUsers(readFileSync(path, "utf8"));
  const cure = "each line is NAME:HASH, as nops user hash NAME prints it";
  if (problems.length > 0) return problems.map((problem) => fail("logins", `${path}: ${problem}`, cure));
  if (users.size === 0) return [warn("logins", `${path} names nobody`, "nops user hash NAME prints a line for it")];
  return [ok("logins", `${plural(users.size, "name")} may log in by password`)];
}

/** A Nomad without ACLs takes any text for a token (S28). */
async function checkAcls(config: Config, io: CommandIo): Promise<Finding[]> {
  const ask = askNomadOver(nomadOptions(config, io));
  try {
    // A token that nobody has: what a server says to it tells whether it looks at tokens at all.
    const answer = await ask("00000000-0000-0000-0000-000000000000");
    if (answer !== "acls_off") return [ok("logins", "people may log in with their Nomad token")];
    return [
      fail(
        "logins",
        "Nomad's ACLs are off: nobody can log in with a Nomad token",
        "switch ACLs on, or take nomad out of auth.mode",
      ),
    ];
  } catch {
    // That Nomad cannot be reached is told with what it should allow.
    return [];
  }
}

async function checkProvider(config: Config, io: CommandIo): Promise<Finding[]> {
  const { issuer, client_secret_file: file } = config.auth.oidc;
  // A secret that cannot be read is told with the other files.
  if (issuer === undefined || file === undefined || !existsSync(resolve(io.workingDirectory, file))) return [];
  try {
    await configuredProvider({ config, io, onSecret: () => undefined })?.begin();
    return [ok("logins", `the OIDC provider ${issuer} answers`)];
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
    const cure =
      "auth.oidc.issuer has to be written exactly as the provider names itself; nops runs without it, but nobody can log in";
    return [warn("logins", `${issuer}: ${messageOf(error)}${cause}`, cure)];
  }
}

/** Without any credentials nothing is open, but nothing can be decided either (S27). */
async function checkAnybody({ auth, data_dir }: Config, io: CommandIo): Promise<Finding[]> {
  if (auth.bootstrap_token_file !== undefined || auth.mode.some((mode) => mode !== "token")) return [];
  const dataDir = resolve(io.workingDirectory, data_dir);
  const path = databasePath(dataDir);
  const create = `nops token create NAME --data-dir ${dataDir}`;
  const nobody = (cure: string): Finding =>
    warn("logins", "there is no API token and no login: nobody can ask or decide anything", cure);
  if (!existsSync(path)) return [nobody(`once nops serve has made the database: ${create}`)];
  try {
    const store = openStore({ path, clock: io.clock, random: io.random, role: "admin" });
    try {
      const now = io.clock.now();
      const valid = (await store.listTokens()).filter(
        ({ revokedAt, expiresAt }) => revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > now),
      );
      return valid.length === 0 ? [nobody(create)] : [ok("logins", `${plural(valid.length, "valid API token")}`)];
    } finally {
      await store.close();
    }
  } catch {
    // What is wrong with the database is told with the files.
    return [];
  }
}
