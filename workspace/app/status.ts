import type { Json } from "../../model/nomad.ts";
import { labels, projectJobs } from "../cluster/labels.ts";
import type { Journal, Pending, PhaseRecord } from "../journal/types.ts";
import type { Session } from "./session.ts";
import { currentSnapshot } from "./snapshot-store.ts";

/** `nops status`: what is deployed, what runs, what is pending. Nomad and the journal are asked; nothing is stored. */

export interface ServiceStatusRow {
  readonly service: string;
  readonly type: "app" | "tool" | "infra";
  readonly enabled: boolean;
  /** From the journal. */
  readonly deploy: string;
  /** From Nomad: `running`, `pending`, `dead`, `stopped`, `-` when there is no job, `unknown` when Nomad cannot be asked. */
  readonly nomad: string;
  readonly job: string | undefined;
}

export interface DaemonRow {
  readonly daemon: string;
  readonly job: string;
  readonly namespace: string;
  readonly params: Json;
  readonly status: string;
}

/** Lines that remind of pending operations; none when nothing is pending (workspace §12). */
export function pendingBanner(journal: Journal): readonly string[] {
  return (journal.pending?.operations ?? []).map((operation) =>
    operation.kind === "deploy"
      ? `! deploy required for: ${(operation.services ?? []).join(", ")} / Run: nops deploy run`
      : "! restart required / Run: nops restart",
  );
}

/** Says whence a journal came until the next full deploy after a restore (workspace §M8). */
export function restoredBanner(session: Session, journal: Journal): readonly string[] {
  const current = currentSnapshot(session.host.root);
  if (current === undefined) return [];
  const deployedAt = journal.project.last_run?.finished_at ?? "";
  return deployedAt > current.restored_at ? [] : [`! journal restored from ${current.name}`];
}

/** One row for each service of the given types. */
export async function serviceStatus(
  session: Session,
  types: readonly ServiceStatusRow["type"][],
): Promise<readonly ServiceStatusRow[]> {
  const journal = session.store.load();
  const services = [...session.workspace.services.values()].filter((service) => types.includes(service.type));
  let found: Awaited<ReturnType<typeof projectJobs>> | undefined;
  if (services.some((service) => service.jobFile !== undefined)) {
    try {
      found = await projectJobs(await session.host.nomad(), session.workspace.project);
    } catch (error) {
      session.notice(`Nomad cannot be asked: ${error instanceof Error ? error.message : String(error)}`, "warning");
    }
  }
  return services.map((service) => {
    const job = found?.find((one) => one.service === service.name && one.stub.ParentID === "");
    return {
      service: service.name,
      type: service.type,
      enabled: service.enabled,
      deploy: journal.services[service.name]?.status ?? "not_deployed",
      nomad: service.jobFile === undefined ? "-" : found === undefined ? "unknown" : job === undefined ? "-" : jobWord(job.stub),
      job: job?.key,
    };
  });
}

function jobWord(stub: { readonly Stop: boolean; readonly Status: string }): string {
  return stub.Stop ? "stopped" : stub.Status;
}

/** Daemons that run now, by their labels in Nomad (workspace §17). */
export async function daemonStatus(session: Session): Promise<readonly DaemonRow[]> {
  const jobs = await projectJobs(await session.host.nomad(), session.workspace.project);
  return jobs
    .filter((job) => job.daemonId !== undefined && job.active)
    .map((job) => ({
      daemon: job.daemonId ?? "",
      job: job.stub.ID,
      namespace: job.stub.Namespace,
      params: parseParams(job.stub.Meta?.[labels.daemonParams]),
      status: job.stub.Status,
    }));
}

function parseParams(text: string | undefined): Json {
  try {
    return text === undefined ? {} : (JSON.parse(text) as Json);
  } catch {
    return {};
  }
}

export interface DeployStatusRow {
  readonly scope: string;
  readonly status: string;
  readonly last_run: string;
  readonly deployed_at: string;
}

/** What the journal says of the project and of each service that exists. */
export function deployStatus(session: Session): readonly DeployStatusRow[] {
  const journal = session.store.load();
  const row = (scope: string, record: Journal["project"] | Journal["services"][string] | undefined): DeployStatusRow => ({
    scope,
    status: record?.status ?? "not_deployed",
    last_run: record?.last_run?.status ?? "-",
    deployed_at: record?.deployed_at ?? "-",
  });
  const names = [...session.workspace.services.keys()];
  return [row("(project)", journal.project), ...names.map((name) => row(name, journal.services[name]))];
}

export interface StepStatusRow {
  readonly phase: string;
  readonly step: string;
  readonly status: string;
  readonly finished_at: string;
  readonly duration_ms: number;
}

/** Phases and steps of one service, or of the project for `undefined`. */
export function stepStatus(session: Session, service: string | undefined): readonly StepStatusRow[] {
  const journal = session.store.load();
  const phases: Readonly<Record<string, PhaseRecord>> =
    service === undefined ? journal.project.phases : (journal.services[service]?.phases ?? {});
  return Object.entries(phases).flatMap(([phase, record]) =>
    Object.entries(record.steps).map(([step, { status, finished_at, duration_ms }]) => ({
      phase,
      step,
      status,
      finished_at,
      duration_ms,
    })),
  );
}

/** Pending operations for programs. */
export function pendingJson(pending: Pending | undefined): Json {
  return pending === undefined ? null : (structuredClone(pending) as unknown as Json);
}
