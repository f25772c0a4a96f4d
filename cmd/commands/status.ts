/** `nops status operator`: how a running nops stands, in itself and towards git and Nomad. */
import type { StatusJson } from "../../api/contract.ts";
import { syncStates } from "../../model/sync-state.ts";
import { type ClientFlags, clientFor } from "../client-options.ts";
import type { CommandIo } from "../io.ts";
import { ago, describeFacts, paintState, plural, printable, printJson, table } from "../output.ts";

export async function operatorStatus(flags: ClientFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const status = await client.status();
  if (flags.json) return printJson(io, status);
  io.out(describeFacts(facts(status, client.address, io)));
  io.out(`\n${repositories(status, io)}`);
  io.out(`\n${loops(status, io)}`);
  for (const line of status.warnings) io.err(`warning: ${printable(line)}\n`);
}

function facts(status: StatusJson, address: string, io: CommandIo): readonly (readonly [string, string | null])[] {
  const { nomad, paused, started_at: startedAt } = status;
  const now = io.clock.now();
  const contact = nomad.last_contact_at === null ? "" : `, last answer ${ago(nomad.last_contact_at, now)}`;
  return [
    ["nops", `${status.version}, ${status.mode}, at ${address}${startedAt === null ? "" : `, started ${ago(startedAt, now)}`}`],
    [
      "Nomad",
      `${nomad.address}, ${nomad.reachable ? paintState(io.colour.out, "ok") : paintState(io.colour.out, "unreachable")}${contact}${nomad.error === null ? "" : `: ${printable(nomad.error)}`}`,
    ],
    [
      "Paused",
      paused.paused ? `every job, by ${paused.by ?? "somebody"} since ${paused.since ?? "?"}: ${paused.reason ?? ""}` : "no",
    ],
    ["Jobs", counted(syncStates, status.counts) ?? "none"],
    ["Deployments", counted(activeStates, status.counts, "deployments_") ?? "none under way"],
  ];
}

/** States in which something is under way or waits. */
const activeStates = ["detected", "pending_approval", "pre_hook", "applying", "post_hook"] as const;

function counted(names: readonly string[], counts: StatusJson["counts"], prefix = ""): string | undefined {
  const found = names.flatMap((name) => {
    const count = counts[`${prefix}${name}`] ?? 0;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return found.length === 0 ? undefined : found.join(", ");
}

function repositories(status: StatusJson, io: CommandIo): string {
  const rows = status.repositories.map((repository) => {
    const { issues, last_error: error, held_commit: held } = repository;
    const errors = issues.filter(({ severity }) => severity === "error").length;
    return [
      repository.name,
      repository.branch,
      `${repository.commit?.slice(0, 8) ?? "-"}${held === null ? "" : ` (${held.slice(0, 8)} held)`}`,
      ago(repository.last_check_at, io.clock.now()),
      String(repository.managed_jobs),
      `${plural(errors, "error")}, ${plural(issues.length - errors, "warning")}`,
      error ?? repository.commit_subject ?? "-",
    ];
  });
  return table(["REPOSITORY", "BRANCH", "COMMIT", "LOOKED AT", "JOBS", "ISSUES", "NOTE"], rows);
}

function loops(status: StatusJson, io: CommandIo): string {
  const rows = Object.entries(status.queues).map(([name, { waiting, running, failing }]) => [
    name,
    String(waiting),
    String(running),
    String(failing),
    ago(status.loops[name] ?? null, io.clock.now()),
  ]);
  return table(["LOOP", "WAITING", "RUNNING", "FAILING", "LAST PASS"], rows);
}
