import { toInstant } from "../../model/clock.ts";
import { InvalidRequestError, NotFoundError } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";
import { builtins } from "../builtins/registry.ts";
import { suggestion } from "../config/parse.ts";
import { expandCommand } from "../pipeline/commands.ts";
import { planDeploy } from "../pipeline/deploy.ts";
import { type ResolvedPlan, type ResolvedStep, stepsOf } from "../pipeline/types.ts";
import { executeCommand } from "../run/execute.ts";
import { bothLocks, withLocks } from "./locks.ts";
import { childEnv, perform, pipelineError, preflight, stepContext } from "./perform.ts";
import type { Session } from "./session.ts";

/** A step of the deploy by its address. @throws NotFoundError `unknown_step`. */
export function findStep(session: Session, address: string): ResolvedStep {
  const steps = stepsOf(planDeploy(session.resolve).plan);
  const step = steps.find((candidate) => candidate.address === address);
  if (step !== undefined) return step;
  const known = steps.map((candidate) => candidate.address);
  throw new NotFoundError(`there is no step "${address}"${suggestion(address, known)}`, { code: "unknown_step" });
}

/** `nops deploy step`: runs one step by its address, under the locks and without the journal (workspace §12). */
export async function runSingleStep(session: Session, address: string): Promise<void> {
  const step = findStep(session, address);
  const plan: ResolvedPlan = {
    pipeline: "step",
    log: false,
    phases: [{ scope: step.scope, name: step.phase, description: undefined, when: undefined, items: [step] }],
  };
  await preflight(session, plan);
  await withLocks(session.host, bothLocks, async () => {
    const result = await perform(session, { plan });
    if (!result.ok) throw pipelineError(result);
  });
}

/** `nops command run`: runs a named command with parameters; daemons are started and stopped this way too. */
export async function runCommand(session: Session, id: string, given: Readonly<Record<string, Json>>): Promise<void> {
  const command = expandCommand(session.workspace, session.values, id, given);
  const { host } = session;
  const context = stepContext(session, {
    env: childEnv(session),
    skipConfirm: host.assumeYes,
    signal: host.signal,
    identity: {
      actionHash: id,
      configHash: "",
      recordedAt: undefined,
      unchanged: false,
      // A person who calls a command wants it done now.
      forcedAt: toInstant(host.clock.now()),
    },
    print: (line) => session.sink({ event: "step_output", address: id, line }),
  });
  await executeCommand(command, { builtins, self: host.self, stdin: host.prompt.interactive ? "inherit" : "ignore" }, context);
}

/** Reads `name=value` pairs; a value that is JSON counts as what it says. @throws InvalidRequestError `bad_parameter`. */
export function parseParameters(pairs: readonly string[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    pairs.map((pair): [string, Json] => {
      const equals = pair.indexOf("=");
      if (equals < 1) throw new InvalidRequestError(`"${pair}" is not of the form name=value`, { code: "bad_parameter" });
      const text = pair.slice(equals + 1);
      try {
        return [pair.slice(0, equals), JSON.parse(text) as Json];
      } catch {
        return [pair.slice(0, equals), text];
      }
    }),
  );
}
