/** What a reader of a list has to know beside it: that it may be old, that nothing is started, which files are broken. */
import type { StatusJson } from "../api/contract.ts";
import type { ApiClient } from "./api-client.ts";
import type { CommandIo } from "./io.ts";
import { printable } from "./output.ts";

const modes: Readonly<Record<StatusJson["mode"], string | undefined>> = {
  active: undefined,
  read_only: "this nops runs read-only: it starts nothing",
  standby: "this nops stands by: another one holds the database",
  restored: "the database was restored: nothing is started until nops restore --accept",
};

const shownIssues = 3;

/** One line each; empty when all is well. */
export function warningsOf(status: StatusJson): string[] {
  const mode = modes[status.mode];
  const { nomad, paused } = status;
  return [
    ...(mode === undefined ? [] : [mode]),
    ...(nomad.reachable
      ? []
      : [`Nomad at ${nomad.address} cannot be reached, so what is shown may be old: ${nomad.error ?? "no answer yet"}`]),
    ...(paused.paused ? [`every job is paused by ${paused.by ?? "somebody"}: ${paused.reason ?? ""}`] : []),
    ...status.repositories.flatMap(warningsOfRepository),
  ];
}

function warningsOfRepository(repository: StatusJson["repositories"][number]): string[] {
  const errors = repository.issues.filter((issue) => issue.severity === "error");
  const rest = errors.length - shownIssues;
  return [
    ...(repository.last_error === null ? [] : [`repository ${repository.name} cannot be read: ${repository.last_error}`]),
    ...errors
      .slice(0, shownIssues)
      .map((issue) => `${repository.name}: ${[issue.file, issue.message].filter(Boolean).join(": ")}`),
    ...(rest > 0 ? [`${repository.name}: ${rest} more errors in its files`] : []),
  ];
}

/** Prints them beside what the command prints; a status that cannot be read keeps no command from its work. */
export async function printWarnings(client: ApiClient, io: CommandIo): Promise<void> {
  const status = await client.status().catch(() => undefined);
  if (status !== undefined) for (const line of warningsOf(status)) io.err(`warning: ${printable(line)}\n`);
}
