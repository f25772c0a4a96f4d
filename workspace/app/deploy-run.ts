import { toInstant } from "../../model/clock.ts";
import { InvalidRequestError, NopsError } from "../../model/errors.ts";
import { paths } from "../config/paths.ts";
import { clearPending } from "../journal/pending.ts";
import { JournalCorruptError } from "../journal/read.ts";
import { emptyJournal, type Journal } from "../journal/types.ts";
import { type DeployPlan, planDeploy } from "../pipeline/deploy.ts";
import { stepsOf } from "../pipeline/types.ts";
import { type Decision, decideAll } from "../run/decisions.ts";
import type { Counts } from "../run/events.ts";
import { judgeGates, missingAfter } from "../run/gates.ts";
import { createRecorder } from "../run/recorder.ts";
import { bothLocks, withLocks } from "./locks.ts";
import { perform, pipelineError, preflight } from "./perform.ts";
import type { Session } from "./session.ts";
import { type Around, planDigest, rememberUnchanged } from "./unchanged.ts";

export interface DeployOptions {
  readonly service?: string;
  readonly force: boolean;
  readonly resume: boolean;
  readonly skipPreflight: boolean;
  /** Say how each step was decided. */
  readonly verbose?: boolean;
  /** Another operation holds the locks already and clears what is pending itself (`services enable --apply`). */
  readonly inner?: boolean;
}

export type DeployOutcome =
  | { readonly kind: "up_to_date" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "deployed"; readonly counts: Counts };

/**
 * `nops deploy run` (workspace §11). Journal, decisions and gates as they are under the locks.
 * @throws NopsError `pipeline_failed`, `previous_incomplete`, `state_not_saved` (exit 1), `lock_held` (exit 2).
 */
export async function deployRun(session: Session, options: DeployOptions): Promise<DeployOutcome> {
  if (options.force && options.resume) {
    throw new InvalidRequestError("--force and --resume exclude each other", { code: "contradicting_flags" });
  }
  const deploy = planDeploy(session.resolve, options.service);
  const digest = options.service === undefined ? planDigest(around(session), session.planInputs(), session.readAt) : undefined;
  const notice = defaultsNotice(session, options.service);
  if (notice !== undefined) session.notice(notice);
  if (!options.skipPreflight && !nothingToDo(session, deploy, options)) await preflight(session, deploy.plan);
  const work = async (): Promise<DeployOutcome> => {
    const outcome = await underLock(session, deploy, options);
    if (digest !== undefined) remember(session, deploy, digest, notice === undefined ? [] : [notice]);
    return outcome;
  };
  return options.inner === true ? work() : withLocks(session.host, bothLocks, work);
}

function around(session: Session): Around {
  const { root, env, facts, version } = session.host;
  return { root, env, facts, version };
}

/** A look without the locks: what has nothing to do needs no Nomad. The answer that counts is given under the locks. */
function nothingToDo(session: Session, deploy: DeployPlan, options: DeployOptions): boolean {
  try {
    const journal = session.store.load();
    return judgeGates({ deploy, journal, decisions: decideAll(deploy, journal, false), force: options.force }).noop;
  } catch {
    return false;
  }
}

function remember(session: Session, deploy: DeployPlan, digest: string, notices: readonly string[]): void {
  if (!nothingToDo(session, deploy, { force: false, resume: false, skipPreflight: true })) return;
  rememberUnchanged(around(session), session.planInputs(), digest, notices);
}

/** One line for people who wonder which pipeline runs; not in runs of one service. */
export function defaultsNotice(session: Session, service: string | undefined): string | undefined {
  if (service !== undefined || session.workspace.deploy !== undefined) return undefined;
  return session.workspace.inert.some((one) => one.file === paths.deploy)
    ? `${paths.deploy} has no phases: the built-in pipeline is used`
    : `using the built-in pipeline; ${paths.deploy} would replace it (\`nops deploy eject\` prints it)`;
}

async function underLock(session: Session, deploy: DeployPlan, options: DeployOptions): Promise<DeployOutcome> {
  session.store.sweep();
  const journal = loadJournal(session, options.force);
  const decisions = decideAll(deploy, journal, options.force);
  if (options.verbose === true) sayDecisions(session, decisions);
  const passed = await passGates(session, { deploy, journal, decisions }, options);
  if (passed === "up_to_date") {
    const counts = { executed: 0, revalidated: 0, skipped: 0, failed: 0 };
    session.sink({
      event: "run_finished",
      ok: true,
      up_to_date: true,
      counts,
      duration_ms: 0,
      at: toInstant(session.host.clock.now()),
    });
    return { kind: "up_to_date" };
  }
  if (passed === "cancelled") return { kind: "cancelled" };
  const force = options.force || passed === "all";
  const forcedAt = force ? toInstant(session.host.clock.now()) : undefined;
  const recorder = createRecorder({
    store: session.store,
    journal,
    deploy,
    force,
    clock: session.host.clock,
    configured: new Set(session.workspace.services.keys()),
  });
  const effective = passed === "all" ? decideAll(deploy, journal, true) : decisions;
  const result = await perform(session, {
    plan: deploy.plan,
    deploy: { plan: deploy, decisions: effective, recorder, forcedAt },
  });
  const unsaved = recorder.failure();
  if (!result.ok)
    throw unsaved === undefined ? pipelineError(result, goOn(options)) : notSaved(`${pipelineError(result).message}; also,`);
  if (unsaved !== undefined) throw notSaved("deploy completed but");
  if (options.inner !== true) clearDone(session, deploy);
  return { kind: "deployed", counts: result.counts };
}

function goOn({ service }: DeployOptions): string {
  return `once that is mended, \`nops deploy run${service === undefined ? "" : ` --service ${service}`} --resume\` goes on`;
}

function sayDecisions(session: Session, decisions: ReadonlyMap<string, Decision>): void {
  for (const [address, decision] of decisions) {
    session.notice(`${address}: ${decision.run ? `run (${decision.words})` : "already deployed"}`);
  }
}

function notSaved(lead: string): NopsError {
  return new NopsError(`${lead} state could not be saved to ${paths.state}`, {
    code: "state_not_saved",
    hint: "look at the folder's rights and free space; the next run repeats what is not recorded",
  });
}

function loadJournal(session: Session, force: boolean): Journal {
  try {
    return session.store.load();
  } catch (error) {
    if (!force || !(error instanceof JournalCorruptError)) throw error;
    const name = session.store.setAside(session.host.clock.now());
    session.notice(`the state file could not be read and was set aside as ${name}`, "warning");
    return emptyJournal();
  }
}

interface Standing {
  readonly deploy: DeployPlan;
  readonly journal: Journal;
  readonly decisions: ReadonlyMap<string, Decision>;
}

type Passed = "up_to_date" | "cancelled" | "run" | "all";

async function passGates(session: Session, standing: Standing, options: DeployOptions): Promise<Passed> {
  const { prompt } = session.host;
  const verdict = judgeGates({ ...standing, force: options.force });
  if (verdict.noop) return "up_to_date";
  const name = options.service === undefined ? "the project" : `service "${options.service}"`;
  if (prompt.interactive && verdict.changed) {
    const answer = await prompt.select(`The configuration of ${name} changed since its last deploy`, [
      { value: "run", label: "Apply changes" },
      { value: "all", label: "Re-run all" },
      { value: "cancelled", label: "Cancel" },
    ]);
    if (answer !== "run") return answer ?? "cancelled";
  } else if (verdict.incomplete && !options.resume) {
    if (!prompt.interactive) {
      throw new NopsError(`the last deploy of ${name} did not complete`, {
        code: "previous_incomplete",
        hint: "--resume goes on with what is missing, --force runs everything again",
      });
    }
    const answer = await prompt.select(`The last deploy of ${name} did not complete`, [
      { value: "run", label: "Resume" },
      { value: "all", label: "Re-run all" },
      { value: "cancelled", label: "Cancel" },
    ]);
    if (answer !== "run") return answer ?? "cancelled";
  }
  return (await passAfter(session, standing.journal, options)) ? "run" : "cancelled";
}

/** A run of one service does not pull in what it comes after; a person is asked, a script is told (workspace §3.6). */
async function passAfter(session: Session, journal: Journal, options: DeployOptions): Promise<boolean> {
  if (options.service === undefined || options.force) return true;
  const missing = missingAfter(session.workspace, journal, options.service);
  if (missing.length === 0) return true;
  if (!session.host.prompt.interactive) {
    session.notice(`"${options.service}" comes after ${missing.join(", ")}, not deployed yet; going on`);
    return true;
  }
  return session.host.prompt.confirm(`Proceed anyway? (missing: ${missing.join(", ")})`);
}

/** Takes what was deployed off the pending list; that it fails after a good deploy is only worth a warning. */
function clearDone(session: Session, deploy: DeployPlan): void {
  const done =
    deploy.service === undefined
      ? [...new Set(stepsOf(deploy.plan).flatMap((step) => (step.scope === undefined ? [] : [step.scope])))]
      : [deploy.service];
  try {
    session.store.mutate((journal) => clearPending(journal, { kind: "deploy", services: done }));
  } catch {
    session.notice("the pending operations could not be cleared", "warning");
  }
}
