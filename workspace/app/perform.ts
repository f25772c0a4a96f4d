import { NopsError, RefusedError } from "../../model/errors.ts";
import { builtins } from "../builtins/registry.ts";
import type { StepContext, StepIdentity } from "../builtins/types.ts";
import type { DeployPlan } from "../pipeline/deploy.ts";
import { projectEnv } from "../pipeline/environment.ts";
import { type ResolvedPlan, type ResolvedStep, stepsOf } from "../pipeline/types.ts";
import { type Decision, scopeFingerprintOf } from "../run/decisions.ts";
import { executeBody } from "../run/execute.ts";
import { probeGate } from "../run/files-gate.ts";
import { openLog } from "../run/log-file.ts";
import { noRecorder, type Recorder } from "../run/recorder.ts";
import { type ExecuteStep, type RunResult, runPipeline } from "../run/runner.ts";
import { redactEvent, type Session } from "./session.ts";

export interface PerformInput {
  readonly plan: ResolvedPlan;
  /** For a deploy: journal, decisions and hashes. */
  readonly deploy?: {
    readonly plan: DeployPlan;
    readonly decisions: ReadonlyMap<string, Decision>;
    readonly recorder: Recorder;
    readonly forcedAt: string | undefined;
  };
}

/** Runs a resolved pipeline with the session's surroundings, and copies progress to its log file. */
export async function perform(session: Session, input: PerformInput): Promise<RunResult> {
  const { host } = session;
  const log = input.plan.log ? openLog(host.root, input.plan.pipeline) : undefined;
  try {
    const result = await runPipeline({
      plan: input.plan,
      service: input.deploy?.plan.service,
      decisions: input.deploy?.decisions ?? new Map(),
      recorder: input.deploy?.recorder ?? noRecorder,
      root: host.root,
      env: childEnv(session),
      processes: host.processes,
      clock: host.clock,
      signal: host.signal,
      sink: (event) => {
        session.sink(event);
        log?.sink(redactEvent(event, session.values.redactor.redact));
      },
      execute: executor(session, input),
      probe: (step) => {
        if (step.gate === undefined) return { open: true, words: "" };
        return probeGate(step.gate, session.workspace, session.values);
      },
    });
    if (log !== undefined) session.notice(result.ok ? `Log saved to ${log.file}` : `Full output saved to ${log.file}`);
    return result;
  } finally {
    log?.close();
  }
}

/** Environment of child processes: the process's own, then the project's. */
export function childEnv(session: Session): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(session.host.env)) if (value !== undefined) env[name] = value;
  const { self } = session.host;
  return { ...env, ...projectEnv(session.workspace, session.values), NOPS_BIN: self.args.at(-1) ?? self.file };
}

function executor(session: Session, input: PerformInput): ExecuteStep {
  const env = childEnv(session);
  return async (step, part, run) => {
    const body = part === "body" ? step.body : step.check;
    if (body === undefined) return;
    const skipConfirm = session.host.assumeYes || step.skipConfirm;
    const context = stepContext(session, {
      env,
      skipConfirm,
      signal: run.signal,
      identity: identityOf(step, input),
      print: run.print,
    });
    const interactive = session.host.prompt.interactive && !run.grouped;
    await executeBody(body, { builtins, self: session.host.self, stdin: interactive ? "inherit" : "ignore" }, context);
  };
}

/** What a step's body may use. */
export function stepContext(
  session: Session,
  own: Pick<StepContext, "env" | "skipConfirm" | "signal" | "identity" | "print">,
): StepContext {
  const { host, workspace, values } = session;
  const { clock, nomad, jobFiles, http, prompt, processes } = host;
  return { workspace, values, clock, nomad, jobFiles, http, prompt, processes, ...own };
}

function identityOf(step: ResolvedStep, input: PerformInput): StepIdentity {
  const decision = input.deploy?.decisions.get(step.address);
  const recorded = decision?.recorded;
  return {
    actionHash: step.fingerprint.hash,
    configHash: input.deploy === undefined ? "" : scopeFingerprintOf(input.deploy.plan, step.scope).hash,
    recordedAt: recorded?.finished_at,
    unchanged: recorded?.status === "ok" && recorded.action_hash === step.fingerprint.hash,
    forcedAt: input.deploy?.forcedAt,
  };
}

/**
 * Looks before the locks are taken at what a pipeline cannot do without: Nomad, when any step needs it (workspace §10.3).
 * @throws NomadError when it cannot be reached.
 */
export async function preflight(session: Session, plan: ResolvedPlan): Promise<void> {
  if (!stepsOf(plan).some((step) => step.needsNomad)) return;
  const nomad = await session.host.nomad();
  await nomad.ping();
}

/** The error that ends a command whose pipeline failed; everything was said by its events. `goOn` says how to go on. */
export function pipelineError(result: RunResult, goOn?: string): NopsError {
  const message = result.interrupted ? "interrupted; what was done is recorded" : (result.error ?? "failed");
  if (result.refused !== undefined) return new RefusedError(message, { code: result.refused });
  return new NopsError(message, { code: "pipeline_failed", ...(goOn === undefined ? {} : { hint: goOn }) });
}
