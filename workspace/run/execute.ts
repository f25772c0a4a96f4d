import { InvalidRequestError } from "../../model/errors.ts";
import { stepFailed } from "../builtins/params.ts";
import type { Builtin, StepContext } from "../builtins/types.ts";
import { runDaemon } from "../cluster/daemons.ts";
import type { ResolvedBody, ResolvedCommand } from "../pipeline/types.ts";
import { splitWords } from "./words.ts";

/** How nops calls itself: never by PATH (workspace §M3). */
export interface SelfCommand {
  readonly file: string;
  readonly args: readonly string[];
}

export interface ExecuteContext {
  readonly builtins: ReadonlyMap<string, Builtin>;
  readonly self: SelfCommand;
  /** Children may read the terminal. */
  readonly stdin: "inherit" | "ignore";
}

/** Runs the body of a step, or its check. @throws NopsError when it fails; the message is the step's error. */
export async function executeBody(body: ResolvedBody, execute: ExecuteContext, step: StepContext): Promise<void> {
  switch (body.type) {
    case "shell":
      return runChild({ file: step.workspace.shell, args: ["-c", body.cmd] }, execute, step);
    case "nops":
      return runSelf(body.cmd, execute, step);
    case "builtin":
      return runBuiltin(body.cmd, body.with, execute, step);
    case "command":
      if (body.command === undefined) throw stepFailed(`command ${body.cmd} was not resolved`);
      return executeCommand(body.command, execute, step);
  }
}

/** Runs a resolved command. */
export async function executeCommand(command: ResolvedCommand, execute: ExecuteContext, step: StepContext): Promise<void> {
  if (command.confirm !== undefined && !step.skipConfirm && !(await step.prompt.confirm(command.confirm))) {
    throw stepFailed("not confirmed");
  }
  switch (command.kind) {
    case "shell":
      return runChild({ file: step.workspace.shell, args: ["-c", command.cmd] }, execute, step);
    case "nops":
      return runSelf(command.cmd, execute, step);
    case "script":
      return runChild({ file: step.workspace.shell, args: [command.path, ...command.args] }, execute, step);
    case "builtin":
      return runBuiltin(command.cmd, command.with, execute, step);
    case "daemon":
      return runDaemon(step, command.daemon, command.action);
    case "workflow":
      for (const inner of command.steps) {
        step.signal.throwIfAborted();
        await executeCommand(inner, execute, step);
      }
  }
}

async function runBuiltin(name: string, given: unknown, execute: ExecuteContext, step: StepContext): Promise<void> {
  const builtin = execute.builtins.get(name);
  if (builtin === undefined) throw new InvalidRequestError(`there is no builtin "${name}"`, { code: "unknown_builtin" });
  await builtin.run(builtin.params.parse(given), step);
}

async function runSelf(text: string, execute: ExecuteContext, step: StepContext): Promise<void> {
  const args = [...execute.self.args, ...splitWords(text)];
  const env = step.skipConfirm ? { ...step.env, NOPS_YES: "1" } : step.env;
  return runChild({ file: execute.self.file, args }, execute, { ...step, env });
}

async function runChild(
  command: { readonly file: string; readonly args: readonly string[] },
  execute: ExecuteContext,
  step: StepContext,
): Promise<void> {
  const code = await step.processes.run({
    ...command,
    cwd: step.workspace.root,
    env: step.env,
    stdin: execute.stdin,
    signal: step.signal,
    onLine: (line) => step.print(line),
  });
  if (code !== 0) throw stepFailed(`exit status ${code}`);
}
