import type { Json } from "../../model/nomad.ts";
import { planDeploy } from "../pipeline/deploy.ts";
import type { ResolvedGroup, ResolvedPhase, ResolvedPlan, ResolvedStep } from "../pipeline/types.ts";
import { describeCondition } from "../run/conditions.ts";
import { type Decision, decideAll } from "../run/decisions.ts";
import type { Session } from "./session.ts";

/** `nops deploy plan`: what would run, with the decision for each step. Reads only, takes no lock (workspace §12). */

export interface PlanView {
  readonly plan: ResolvedPlan;
  readonly service: string | undefined;
  readonly decisions: ReadonlyMap<string, Decision>;
}

/** Resolves the plan and compares it with the journal. */
export function viewPlan(session: Session, service: string | undefined): PlanView {
  const deploy = planDeploy(session.resolve, service);
  return { plan: deploy.plan, service, decisions: decideAll(deploy, session.store.load(), false) };
}

/** The plan as lines for people. */
export function planTable(session: Session, view: PlanView): string {
  const lines: string[] = [];
  const numbers = numberSteps(view.plan.phases);
  let scope: string | undefined;
  for (const phase of view.plan.phases) {
    if (phase.scope !== scope && phase.scope !== undefined) lines.push("", `== ${phase.scope} ==`);
    scope = phase.scope;
    lines.push(
      "",
      `Phase: ${phase.name}${phase.description === undefined ? "" : `: ${phase.description}`}${
        phase.when === undefined ? "" : ` [${describeCondition(phase.when)}]`
      }`,
    );
    for (const item of phase.items) {
      if (item.kind === "step") lines.push(...stepLines(view, item, numbers, "  "));
      else lines.push(...groupLines(view, item, numbers));
    }
  }
  return session.values.redactor.redact(`${lines.join("\n").trim()}\n`);
}

function numberSteps(phases: readonly ResolvedPhase[]): ReadonlyMap<string, string> {
  const steps = phases.flatMap((phase) => phase.items.flatMap((item) => (item.kind === "step" ? [item] : item.steps)));
  const tracked = steps.filter((step) => !step.untracked);
  return new Map(tracked.map((step, index) => [step.address, `[${index + 1}/${tracked.length}] `]));
}

function groupLines(view: PlanView, group: ResolvedGroup, numbers: ReadonlyMap<string, string>): string[] {
  const own = group.steps.map((step) => numbers.get(step.address)?.match(/\d+/g) ?? []).filter((match) => match.length === 2);
  const range = own.length === 0 ? "" : `[${own[0]?.[0]}-${own.at(-1)?.[0]}/${own[0]?.[1]}] `;
  const facts = `${group.steps.length} steps, max_concurrent=${group.maxConcurrent}, fail_fast=${group.failFast}`;
  const when = group.when === undefined ? "" : ` [${describeCondition(group.when)}]`;
  return [
    `  ${range}[parallel group: ${group.name} (${facts})]${when}`,
    ...group.steps.flatMap((step) => stepLines(view, step, numbers, "    ")),
  ];
}

function stepLines(view: PlanView, step: ResolvedStep, numbers: ReadonlyMap<string, string>, indent: string): string[] {
  const decision = view.decisions.get(step.address);
  const head = `${indent}${numbers.get(step.address) ?? ""}${step.name}${step.description === undefined ? "" : `: ${step.description}`}`;
  return [
    `${head}  → ${decisionWord(decision)}`,
    ...`${step.body.type}: ${step.shown}`.split("\n").map((line) => `${indent}    ${line}`),
    ...brackets(step).map((text) => `${indent}    [${text}]`),
  ];
}

function brackets(step: ResolvedStep): string[] {
  const { gate } = step;
  return [
    ...step.unresolved.map((reference) => `unresolved: ${reference}`),
    ...(step.when === undefined ? [] : [describeCondition(step.when)]),
    ...(gate === undefined
      ? []
      : [`files_gate: ${gate.state} (${typeof gate.require === "string" ? gate.require : gate.require.join(", ")})`]),
    ...(step.check === undefined ? [] : [`check: ${step.check.type}: ${oneLine(step.checkShown ?? "")}`]),
    ...(step.continueOnError ? ["continue_on_error"] : []),
  ];
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, "; ");
}

function decisionWord(decision: Decision | undefined): string {
  if (decision === undefined) return "run";
  if (!decision.run) return "skip (already deployed)";
  return decision.reason === "revalidate" ? "re-validate" : `run (${decision.words})`;
}

/** One clean line a step, behind a comment with its address: to look at, not to execute. */
export function planShell(session: Session, view: PlanView): string {
  const steps = view.plan.phases.flatMap((phase) => phase.items.flatMap((item) => (item.kind === "step" ? [item] : item.steps)));
  const lines = steps.flatMap((step) => [
    `# ${step.address}${step.description === undefined ? "" : `: ${step.description}`}`,
    step.body.type === "shell" ? step.shown : `# ${step.body.type}: ${oneLine(step.shown)}`,
  ]);
  return session.values.redactor.redact(`# Preview of nops deploy run; secrets are hidden.\n${lines.join("\n")}\n`);
}

/** The plan for programs; the shape is a contract (workspace §12). Secrets are hidden. */
export function planJson(session: Session, view: PlanView): Json {
  const redact = session.values.redactor.redact;
  const step = (one: ResolvedStep): Json => {
    const decision = view.decisions.get(one.address);
    return compact({
      name: one.name,
      address: one.address,
      type: one.body.type,
      cmd: redact(one.shown),
      description: one.description,
      unresolved: one.unresolved.map(redact),
      when: one.when === undefined ? undefined : redact(describeCondition(one.when)),
      files_gate:
        one.gate === undefined
          ? undefined
          : { state: one.gate.state, require: typeof one.gate.require === "string" ? one.gate.require : [...one.gate.require] },
      check: one.check === undefined ? undefined : { type: one.check.type, cmd: redact(one.checkShown ?? "") },
      continue_on_error: one.continueOnError,
      untracked: one.untracked,
      decision: decision?.run === false ? "skip" : decision?.reason === "revalidate" ? "revalidate" : "run",
      reason: decision?.reason ?? "new",
      action_hash: one.fingerprint.hash,
    });
  };
  const phases = view.plan.phases.map((phase) =>
    compact({
      name: phase.name,
      service: phase.scope,
      description: phase.description,
      when: phase.when === undefined ? undefined : redact(describeCondition(phase.when)),
      steps: phase.items.map((item) =>
        item.kind === "step"
          ? step(item)
          : compact({
              name: item.name,
              description: item.description,
              when: item.when === undefined ? undefined : redact(describeCondition(item.when)),
              parallel: { max_concurrent: item.maxConcurrent, fail_fast: item.failFast, steps: item.steps.map(step) },
            }),
      ),
    }),
  );
  return compact({ service: view.service, phases });
}

function compact(fields: Readonly<Record<string, Json | undefined>>): Json {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
