import { InvalidRequestError, messageOf } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";
import { deployStanding, standingJson, standingLine } from "../../workspace/app/standing.ts";
import {
  daemonStatus,
  deployStatus,
  pendingBanner,
  pendingJson,
  restoredBanner,
  type ServiceStatusRow,
  serviceStatus,
  stepStatus,
} from "../../workspace/app/status.ts";
import { findRoot } from "../../workspace/config/root.ts";
import type { ClientFlags } from "../client-options.ts";
import { operatorStatus } from "../commands/status.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { paintState, printJson, table } from "../output.ts";
import { inWorkspace, type WorkspaceFlags } from "./host.ts";

type Session = Parameters<typeof serviceStatus>[0];
type Journal = Parameters<typeof pendingBanner>[0];

const types: Readonly<Record<string, readonly ServiceStatusRow["type"][]>> = {
  apps: ["app"],
  tools: ["tool"],
  infra: ["infra"],
};

/** `nops status [apps|tools|infra|deploy|daemons|operator]`. Takes no lock; works while a deploy runs. */
export async function statusCommand(
  section: string | undefined,
  service: string | undefined,
  flags: WorkspaceFlags & ClientFlags,
  io: CommandIo,
): Promise<void> {
  if (section === "operator" || (section === undefined && flags.addr !== undefined)) return operatorStatus(flags, io);
  const outside = section === undefined && flags.workspace === undefined ? whyOutside(io) : undefined;
  if (outside !== undefined) return operatorInstead(outside, flags, io);
  await inWorkspace(io, flags, async (session) => {
    const known = section === undefined || section === "deploy" || section === "daemons" || Object.hasOwn(types, section);
    if (!known)
      throw new InvalidRequestError(`status takes apps, tools, infra, deploy, daemons or operator, not "${section}"`, {
        code: "unknown_section",
      });
    const journal = session.store.load();
    if (flags.json !== true) {
      for (const line of banner(session, journal, section)) io.out(`${line}\n`);
    }
    if (section === "daemons") return showDaemons(session, flags, io);
    if (section === "deploy") return showDeploy(session, service, flags, io);
    const rows = await serviceStatus(session, section === undefined ? ["app", "tool", "infra"] : (types[section] ?? []));
    if (flags.json === true) return printJson(io, { ...deployFacts(session), services: rows });
    io.out(
      table(
        ["SERVICE", "TYPE", "ENABLED", "DEPLOY", "NOMAD"],
        rows.map((row) => [row.service, row.type, row.enabled ? "yes" : "no", row.deploy, row.nomad]),
        (cell, column) => (column >= 3 ? paintState(io.colour.out, cell) : cell),
      ),
    );
  });
}

/** Why there is no workspace around the working directory; absent when there is one. */
function whyOutside(io: CommandIo): string | undefined {
  try {
    findRoot(io.workingDirectory);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function operatorInstead(outside: string, flags: ClientFlags, io: CommandIo): Promise<void> {
  try {
    await operatorStatus(flags, io);
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.unreachable) throw error;
    throw new CommandError(error.exitCode, `${outside}, and ${error.message}`, error.hint, error.code);
  }
}

/** What stands above every section: how the deploy stands, what is pending, whence the journal came. */
function banner(session: Session, journal: Journal, section: string | undefined): readonly string[] {
  const pending = pendingBanner(journal);
  const standing = deployStanding(session);
  // What is pending says already why the deploy is not what the configuration wants.
  const isTold = standing.status === "outdated" && pending.length > 0;
  const own = section === "daemons" || isTold ? [] : [standingLine(standing)];
  return [...own, ...pending, ...restoredBanner(session, journal)];
}

function deployFacts(session: Session): { readonly deploy: Json; readonly pending: Json } {
  return { deploy: standingJson(deployStanding(session)), pending: pendingJson(session.store.load().pending) };
}

async function showDaemons(session: Session, flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  const daemons = await daemonStatus(session);
  if (flags.json === true) return printJson(io, { daemons });
  if (daemons.length === 0) return io.err("no daemon runs\n");
  const rows = daemons.map((row) => [row.daemon, row.job, row.namespace, row.status, JSON.stringify(row.params)]);
  io.out(table(["DAEMON", "JOB", "NAMESPACE", "STATUS", "PARAMS"], rows));
}

async function showDeploy(session: Session, service: string | undefined, flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  if (service === undefined) {
    const scopes = deployStatus(session);
    if (flags.json === true) return printJson(io, { ...deployFacts(session), scopes });
    const rows = scopes.map((row) => [row.scope, row.status, row.last_run, row.deployed_at]);
    return io.out(table(["SCOPE", "STATUS", "LAST RUN", "DEPLOYED AT"], rows));
  }
  if (service !== "project" && !session.workspace.services.has(service)) {
    throw new InvalidRequestError(`there is no service "${service}"`, { code: "unknown_service" });
  }
  const steps = stepStatus(session, service === "project" ? undefined : service);
  if (flags.json === true) return printJson(io, { steps });
  const rows = steps.map((row) => [row.phase, row.step, row.status, row.finished_at, `${row.duration_ms} ms`]);
  io.out(table(["PHASE", "STEP", "STATUS", "FINISHED AT", "DURATION"], rows));
}
