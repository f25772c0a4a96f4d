import { join } from "node:path";
import type { Json } from "../../model/nomad.ts";
import { paths } from "../config/paths.ts";
import { type Journal, type ScopeRecord, scopeRecord } from "../journal/types.ts";
import { type DeployPlan, planDeploy } from "../pipeline/deploy.ts";
import { stepsOf } from "../pipeline/types.ts";
import { decideAll } from "../run/decisions.ts";
import { judgeGates } from "../run/gates.ts";
import type { Session } from "./session.ts";

/** How the project's deploy stands, by the journal and the lock file. Takes no lock and asks nobody. */
export interface DeployStanding {
  /**
   * `interrupted`: a run began and its process is gone. `outdated`: complete, but the configuration is another one now.
   * `never`: no run is on record.
   */
  readonly status: "never" | "running" | "interrupted" | "failed" | "outdated" | "complete";
  /** Set when the run was of one service. */
  readonly service: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** Process of the run, while it lasts. */
  readonly pid: number | null;
  /** Addresses of the steps that failed and were not let pass. */
  readonly failed_steps: readonly string[];
  /** Where the run is, or where it stopped. */
  readonly next_step: string | null;
  /** The command that goes on; nothing has to be done without one. */
  readonly run: string | null;
}

interface Run {
  readonly service: string | undefined;
  readonly record: ScopeRecord;
}

/** @throws JournalCorruptError */
export function deployStanding(session: Session): DeployStanding {
  const journal = session.store.load();
  const run = runToTell(session, journal);
  if (run === undefined) return nothingLeft(session, journal);
  const { service, record } = run;
  const failed = record.last_run?.status === "failed";
  const pid = failed ? undefined : session.host.lock.holder(join(session.host.root, paths.deployLock));
  const status = failed ? "failed" : pid === undefined ? "interrupted" : "running";
  const only = service === undefined ? "" : ` --service ${service}`;
  return {
    status,
    service: service ?? null,
    started_at: record.last_run?.started_at ?? null,
    finished_at: record.last_run?.finished_at ?? null,
    pid: pid ?? null,
    failed_steps: failed ? failedSteps(session, journal, run) : [],
    next_step: failed ? null : (nextStep(session, journal, run) ?? null),
    run: status === "running" ? null : `nops deploy run${only} --resume`,
  };
}

/** The run that did not end well: one under way first, the project's before those of single services. */
function runToTell(session: Session, journal: Journal): Run | undefined {
  const runs = [undefined, ...session.workspace.services.keys()].flatMap((service): Run[] => {
    const record = scopeRecord(journal, service);
    return record?.last_run === undefined ? [] : [{ service, record }];
  });
  const having = (status: string): Run | undefined => runs.find(({ record }) => record.last_run?.status === status);
  return having("in_progress") ?? having("failed");
}

function nothingLeft(session: Session, journal: Journal): DeployStanding {
  const base = { service: null, pid: null, failed_steps: [], next_step: null };
  const finished = [journal.project, ...Object.values(journal.services)].flatMap(({ last_run: run }) => run?.finished_at ?? []);
  const at = { started_at: journal.project.last_run?.started_at ?? null, finished_at: finished.sort().at(-1) ?? null };
  if (finished.length === 0) return { ...base, ...at, status: "never", run: "nops deploy run" };
  const isOutdated = outdated(planned(session, undefined), journal);
  return isOutdated
    ? { ...base, ...at, status: "outdated", run: "nops deploy run" }
    : { ...base, ...at, status: "complete", run: null };
}

/** Another configuration than the deployed one, or a service that was not deployed under it. */
function outdated(deploy: DeployPlan | undefined, journal: Journal): boolean {
  if (deploy === undefined) return false;
  const { changed } = judgeGates({ deploy, journal, decisions: new Map(), force: false });
  return changed || deploy.tracked.some((name) => journal.services[name]?.status !== "deployed");
}

/** Those of this run: an older failure that the run did not come to says nothing about why it ended. */
function failedSteps(session: Session, journal: Journal, { service, record }: Run): readonly string[] {
  const began = record.last_run?.started_at ?? "";
  const scopes = service === undefined ? [undefined, ...session.workspace.services.keys()] : [service];
  return scopes.flatMap((scope) =>
    Object.entries(scopeRecord(journal, scope)?.phases ?? {}).flatMap(([phase, { steps }]) =>
      Object.entries(steps)
        .filter(([, step]) => step.status === "failed" && step.tolerated !== true && step.finished_at >= began)
        .map(([name]) => [scope, phase, name].filter((part) => part !== undefined).join("/")),
    ),
  );
}

/** The first step that has to run and has no outcome in this run. */
function nextStep(session: Session, journal: Journal, { service, record }: Run): string | undefined {
  const deploy = planned(session, service);
  if (deploy === undefined) return undefined;
  const began = record.last_run?.started_at ?? "";
  const decisions = decideAll(deploy, journal, false);
  return stepsOf(deploy.plan).find(({ address }) => {
    const decision = decisions.get(address);
    return decision?.run === true && (decision.recorded?.finished_at ?? "") < began;
  })?.address;
}

/** Without a plan that can be made there is less to tell, but the journal still counts. */
function planned(session: Session, service: string | undefined): DeployPlan | undefined {
  try {
    return planDeploy(session.resolve, service);
  } catch {
    return undefined;
  }
}

/** The standing as a line for people, with what to do. */
export function standingLine(standing: DeployStanding): string {
  const { status, service, started_at: began, finished_at: ended, failed_steps: failed, next_step: next, pid } = standing;
  const name = service === null ? "deploy" : `deploy of ${service}`;
  const steps = failed.length === 0 ? "" : ` in ${failed.join(", ")}`;
  const words = {
    never: `! ${name}: never run`,
    running: `${name}: running since ${began} (pid ${pid})${next === null ? "" : `, at ${next}`}`,
    interrupted: `! ${name}: interrupted; it began ${began}${next === null ? "" : ` and came to ${next}`}`,
    failed: `! ${name}: failed ${ended}${steps}`,
    outdated: `! ${name}: complete ${ended}, the configuration changed since`,
    complete: `${name}: complete ${ended}`,
  }[status];
  return `${words}${standing.run === null ? "" : ` / Run: ${standing.run}`}`;
}

/** The standing for programs. */
export function standingJson(standing: DeployStanding): Json {
  return { ...standing, failed_steps: [...standing.failed_steps] };
}
