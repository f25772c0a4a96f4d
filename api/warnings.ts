/** What every reader has to know beside what they read: that it may be old, that nothing is started, which files are broken. */
import { withPlace } from "../model/place.ts";
import type { StatusJson } from "./contract.ts";

const modes: Readonly<Record<StatusJson["mode"], string | undefined>> = {
  active: undefined,
  read_only: "this nops runs read-only: it starts nothing",
  standby: "this nops stands by: another one holds the database",
  restored: "the database was restored: nothing is started until nops restore --accept and a restart of nops",
};

const shownIssues = 3;

/** One line each; empty when all is well. */
export function warningsOf(status: Omit<StatusJson, "warnings">): string[] {
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
      .map(
        (issue) =>
          `${repository.name}: ${issue.file === "" ? issue.message : withPlace(issue.file, issue.message, issue.line ?? undefined)}`,
      ),
    ...(rest > 0 ? [`${repository.name}: ${rest} more errors in its files`] : []),
  ];
}
