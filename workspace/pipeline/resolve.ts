import { parseDuration } from "../../model/duration.ts";
import { messageOf, NopsError } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";
import { evaluateExpression } from "../config/expression.ts";
import { ConfigError, type ConfigIssue } from "../config/issues.ts";
import { type ConditionYaml, type GroupYaml, isGroup, type LeafYaml, type PhaseYaml } from "../config/schema.ts";
import { renderText, renderValue } from "../config/template.ts";
import { type BodyFacts, bad, type ResolveContext, resolveBody } from "./body.ts";
import { stepFingerprint } from "./hashes.ts";
import type { ResolvedGate, ResolvedGroup, ResolvedPhase, ResolvedPlan, ResolvedStep } from "./types.ts";

/** A phase on its way into a plan: where it comes from and to whom it belongs. */
export interface SourcePhase {
  readonly scope: string | undefined;
  readonly phase: PhaseYaml;
  readonly file: string;
  readonly lineOf: (phase: string, step?: string) => number | undefined;
  /** Placed by nops itself: may use engine-only builtins. */
  readonly engine?: boolean;
}

/**
 * Renders every field of every step, validates parameters and computes the fingerprints (workspace §3.5–3.7).
 * @throws ConfigError with every problem of every step.
 */
export function resolvePipeline(
  context: ResolveContext & { readonly parallelism: number },
  pipeline: { readonly name: string; readonly log: boolean; readonly phases: readonly SourcePhase[] },
): ResolvedPlan {
  const issues: ConfigIssue[] = [];
  const phases = pipeline.phases.flatMap((source): ResolvedPhase[] => {
    const attempt = <T>(step: string | undefined, work: () => T): T | undefined => {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof NopsError)) throw error;
        const line = source.lineOf(source.phase.name, step);
        issues.push({ file: source.file, ...(line === undefined ? {} : { line }), message: messageOf(error) });
        return undefined;
      }
    };
    const inner = { ...context, ...(source.engine === true ? { engine: true } : {}) };
    const where = address(source, undefined);
    const when = attempt(undefined, () => resolveWhen(inner, source.phase.when, where));
    if (when === undefined || when === false) return [];
    const items = source.phase.steps.flatMap((item) => {
      const resolved = attempt(item.name, () =>
        isGroup(item) ? resolveGroup(inner, source, item, attempt) : resolveStep(inner, source, item, undefined),
      );
      return resolved === undefined ? [] : [resolved];
    });
    return [{ scope: source.scope, name: source.phase.name, description: source.phase.description, when: when.condition, items }];
  });
  if (issues.length > 0) throw new ConfigError(issues);
  return { pipeline: pipeline.name, log: pipeline.log, phases };
}

function address(source: SourcePhase, step: string | undefined): string {
  return [source.scope, source.phase.name, step].filter((part) => part !== undefined).join("/");
}

type Attempt = <T>(step: string | undefined, work: () => T) => T | undefined;

function resolveGroup(
  context: ResolveContext & { readonly parallelism: number },
  source: SourcePhase,
  group: GroupYaml,
  attempt: Attempt,
): ResolvedGroup | undefined {
  const when = resolveWhen(context, group.when, address(source, group.name));
  if (when === false) return undefined;
  const steps = group.parallel.steps.flatMap((leaf) => attempt(leaf.name, () => resolveStep(context, source, leaf, group)) ?? []);
  const limit = group.parallel.max_concurrent ?? context.parallelism;
  return {
    kind: "group",
    name: group.name,
    description: group.description,
    when: when.condition,
    maxConcurrent: Math.max(1, Math.min(limit, steps.length)),
    failFast: group.parallel.fail_fast ?? true,
    steps,
  };
}

function resolveStep(
  context: ResolveContext,
  source: SourcePhase,
  leaf: LeafYaml,
  group: GroupYaml | undefined,
): ResolvedStep | undefined {
  const where = address(source, leaf.name);
  const when = resolveWhen(context, leaf.when, where);
  if (when === false) return undefined;
  const facts = resolveBody(context, leaf, where);
  const check = resolveCheck(context, leaf, where);
  const skipConfirm = (leaf.skip_confirm ?? false) || (group?.skip_confirm ?? false);
  refusePrompts(facts, check, group, skipConfirm, where);
  const gate = resolveGate(context, leaf, facts, where);
  return {
    kind: "step",
    scope: source.scope,
    phase: source.phase.name,
    name: leaf.name,
    address: where,
    description: leaf.description,
    body: facts.body,
    shown: facts.shown,
    when: when.condition,
    gate,
    check: check?.body,
    checkShown: check?.shown,
    continueOnError: leaf.continue_on_error ?? false,
    skipConfirm,
    untracked: (leaf.untracked ?? false) || (source.phase.untracked ?? false) || (group?.untracked ?? false),
    timeoutMs: resolveTimeout(context, leaf.timeout, where),
    fingerprint: stepFingerprint({ type: leaf.type, cmd: facts.body.cmd, with: facts.hashed }, gateInput(leaf, gate)),
    revalidates: check !== undefined || facts.predicate,
    needsNomad: facts.needsNomad || (check?.needsNomad ?? false),
    unresolved: [...facts.unresolved, ...(check?.unresolved ?? [])],
  };
}

function refusePrompts(
  facts: BodyFacts,
  check: BodyFacts | undefined,
  group: GroupYaml | undefined,
  skipConfirm: boolean,
  where: string,
): void {
  if (group === undefined) return;
  const command = facts.body.command;
  if (command?.kind === "daemon" && command.action === "logs") {
    throw bad(where, "a parallel group cannot follow the logs of a daemon");
  }
  if ((facts.prompts || check?.prompts === true) && !skipConfirm) {
    throw bad(where, "a step of a parallel group cannot ask a person; set skip_confirm");
  }
}

/** `false`: a template condition does not hold and the step leaves the plan. */
function resolveWhen(
  context: ResolveContext,
  when: ConditionYaml | undefined,
  where: string,
): false | { readonly condition: ConditionYaml | undefined } {
  if (when === undefined) return { condition: undefined };
  const scope = context.values.scope();
  if (when.type === "template") {
    return evaluateExpression(when.expr, scope, `${where}: when`) ? { condition: undefined } : false;
  }
  return { condition: { ...when, cmd: renderText(when.cmd, scope, `${where}: when`).value } };
}

function resolveCheck(context: ResolveContext, leaf: LeafYaml, where: string): BodyFacts | undefined {
  if (leaf.check === undefined) return undefined;
  if (leaf.check !== "auto") return resolveBody(context, leaf.check, `${where}: check`);
  const condition = leaf.when?.type === "shell" ? leaf.when.cmd : "false";
  return resolveBody(context, { type: "builtin", cmd: "shell", with: { cmd: negate(condition), timeout: 0 } }, `${where}: check`);
}

/** Over several lines and in a subshell, so that comments, here-documents and `exit` of the condition stay what they are. */
function negate(command: string): string {
  return `if (\n${command}\n); then\n  echo "the condition still holds" >&2\n  exit 1\nfi`;
}

function resolveTimeout(context: ResolveContext, raw: string | 0 | undefined, where: string): number {
  if (raw === undefined || raw === 0) return 0;
  const text = renderText(raw, context.values.scope(), `${where}: timeout`).value;
  const ms = parseDuration(text);
  if (ms === undefined) throw bad(where, `timeout: "${text}" is no duration such as 90s or 1h30m`);
  if (ms < 0) throw bad(where, "timeout: a timeout cannot be negative");
  return ms;
}

function resolveGate(context: ResolveContext, leaf: LeafYaml, facts: BodyFacts, where: string): ResolvedGate | undefined {
  const gate = leaf.files_gate;
  if (gate === undefined) return undefined;
  if (typeof gate === "string") {
    return { state: gate, require: "required", command: facts.body.cmd, with: facts.body.with };
  }
  const command = gate.command ?? (leaf.type === "command" ? facts.body.cmd : undefined);
  if (command === undefined) throw bad(where, "files_gate: name the command whose files are meant");
  const given =
    gate.with === undefined ? facts.body.with : renderValue(gate.with, context.values.scope(), `${where}: files_gate`).value;
  return { state: gate.state, require: gate.require, command, with: given as Readonly<Record<string, Json>> };
}

/** The gate as it enters the hash: only what the file states. */
function gateInput(leaf: LeafYaml, gate: ResolvedGate | undefined): Parameters<typeof stepFingerprint>[1] {
  if (gate === undefined || leaf.files_gate === undefined) return undefined;
  if (typeof leaf.files_gate === "string") return { state: gate.state, require: gate.require };
  return {
    state: gate.state,
    require: gate.require,
    ...(leaf.files_gate.command === undefined ? {} : { command: gate.command }),
    ...(leaf.files_gate.with === undefined ? {} : { with: gate.with }),
  };
}
