/** How every client command finds the server, the token and the job (contract §1). */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type JobKey, parseJobKey, splitJobKey } from "../model/job-key.ts";
import { type ApiClient, createApiClient } from "./api-client.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import type { CommandIo } from "./io.ts";

const defaultAddress = "http://127.0.0.1:8080";

export interface ClientFlags {
  readonly addr?: string;
  readonly tokenFile?: string;
  readonly namespace?: string;
  readonly json?: boolean;
}

/** Adds the flags that say where nops is and who asks. */
export function withServerFlags(command: Command): Command {
  return command
    .option("--addr <url>", `address of nops (NOPS_ADDR; default ${defaultAddress})`)
    .option("--token-file <file>", "file with the API token (NOPS_TOKEN_FILE; or NOPS_TOKEN holds the token itself)");
}

/** Adds the flags that every client command takes. */
export function withClientFlags(command: Command): Command {
  return withServerFlags(command).option(
    "-n, --namespace <namespace>",
    "namespace of a job given without one (NOPS_NAMESPACE; default default)",
  );
}

/** @throws CommandError when the token file cannot be read or the address is no URL. */
export function clientFor(flags: ClientFlags, io: CommandIo): ApiClient {
  const address = (flags.addr ?? set(io.environment["NOPS_ADDR"]) ?? defaultAddress).replace(/\/+$/, "");
  if (!URL.canParse(address) || !/^https?:/.test(address)) {
    throw new CommandError(exitCodes.usage, `"${address}" is not an http or https address`, `for example ${defaultAddress}`);
  }
  return createApiClient({ address, token: tokenFor(flags, io), signal: io.interrupted });
}

function tokenFor(flags: ClientFlags, io: CommandIo): string | undefined {
  const file = flags.tokenFile ?? set(io.environment["NOPS_TOKEN_FILE"]);
  if (file === undefined) return set(io.environment["NOPS_TOKEN"]);
  try {
    const token = readFileSync(file, "utf8").trim();
    if (token !== "") return token;
  } catch (error) {
    throw new CommandError(exitCodes.usage, `cannot read the token file ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
  throw new CommandError(exitCodes.usage, `the token file ${file} is empty`);
}

/** The job a person means by `web` or `apps/web`. */
export function jobFor(text: string, flags: ClientFlags, io: CommandIo): JobKey {
  return parseJobKey(text, flags.namespace ?? set(io.environment["NOPS_NAMESPACE"]) ?? "default");
}

/** Job and namespace of a list's filter: `web` means that job of every namespace unless one is named, `apps/web` exactly one. */
export function jobFilterFor(
  flags: ClientFlags & { readonly job?: string },
  io: CommandIo,
): { readonly job: string | undefined; readonly namespace: string | undefined } {
  const { job, namespace } = flags;
  if (job === undefined) return { job, namespace };
  if (!job.includes("/")) return { job, namespace: namespace ?? set(io.environment["NOPS_NAMESPACE"]) };
  const key = splitJobKey(parseJobKey(job, "default"));
  return { job: key.jobId, namespace: key.namespace };
}

function set(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}
