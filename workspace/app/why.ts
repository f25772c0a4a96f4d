import { NotFoundError } from "../../model/errors.ts";
import { suggestion } from "../config/parse.ts";
import { scopeRecord } from "../journal/types.ts";
import { planDeploy } from "../pipeline/deploy.ts";
import { shortHash } from "../pipeline/hashes.ts";
import { stepsOf } from "../pipeline/types.ts";
import { decideAll, scopeFingerprintOf } from "../run/decisions.ts";
import type { Session } from "./session.ts";

/** One input of a hash, as it was recorded and as it is now: digests, never values. */
export interface InputChange {
  readonly input: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
}

export interface Why {
  readonly address: string;
  readonly run: boolean;
  readonly reason: string;
  readonly explanation: string;
  /** What differs in the step itself. */
  readonly step: readonly InputChange[];
  /** What differs in the configuration of its scope. */
  readonly config: readonly InputChange[];
  readonly recorded: { readonly status: string; readonly finished_at: string; readonly action_hash: string } | undefined;
}

/**
 * Why a step would run or not, and which of its inputs changed since the record (issue: `nops deploy why STEP`).
 * @throws NotFoundError `unknown_step`.
 */
export function explainStep(session: Session, address: string): Why {
  const deploy = planDeploy(session.resolve);
  const steps = stepsOf(deploy.plan);
  const step = steps.find((candidate) => candidate.address === address);
  if (step === undefined) {
    const known = steps.map((candidate) => candidate.address);
    throw new NotFoundError(`there is no step "${address}"${suggestion(address, known)}`, {
      code: "unknown_step",
      hint: `steps: ${known.join(", ")}`,
    });
  }
  const journal = session.store.load();
  const decision = decideAll(deploy, journal, false).get(address);
  const record = scopeRecord(journal, step.scope);
  const { recorded } = decision ?? {};
  return {
    address,
    run: decision?.run ?? true,
    reason: decision?.reason ?? "new",
    explanation: decision?.words ?? "new",
    step: compare(recorded?.inputs, step.fingerprint.inputs),
    config: record?.config_hash === undefined ? [] : compare(record.config_inputs, scopeFingerprintOf(deploy, step.scope).inputs),
    recorded:
      recorded === undefined
        ? undefined
        : { status: recorded.status, finished_at: recorded.finished_at, action_hash: shortHash(recorded.action_hash) },
  };
}

function compare(before: Readonly<Record<string, string>> | undefined, now: Readonly<Record<string, string>>): InputChange[] {
  if (before === undefined) return [];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((input) => before[input] !== now[input])
    .map((input) => ({ input, before: before[input], now: now[input] }));
}

/** The explanation for people. */
export function formatWhy(why: Why): string {
  const head = `${why.address}: ${why.run ? (why.reason === "revalidate" ? "re-validated on every run" : "would run") : "would be skipped"} (${why.explanation})`;
  const record =
    why.recorded === undefined
      ? ["no record"]
      : [`recorded: ${why.recorded.status} at ${why.recorded.finished_at}, hash ${why.recorded.action_hash}`];
  const changes = (title: string, list: readonly InputChange[]): string[] =>
    list.length === 0 ? [] : [title, ...list.map((one) => `  ${one.input}: ${one.before ?? "absent"} → ${one.now ?? "absent"}`)];
  return `${[head, ...record, ...changes("changed in the step:", why.step), ...changes("changed in the configuration:", why.config)].join("\n")}\n`;
}
