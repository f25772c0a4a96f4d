import { parseDuration } from "../../model/duration.ts";
import { InvalidRequestError } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";
import type { CommandYaml, DaemonYaml } from "../config/command-schema.ts";
import { suggestion } from "../config/parse.ts";
import { renderText, renderValue, type TemplateScope } from "../config/template.ts";
import type { Values } from "../config/values.ts";
import type { Workspace } from "../config/workspace.ts";
import type { DaemonAction, ResolvedCommand, ResolvedDaemon } from "./types.ts";

const daemonActions: readonly DaemonAction[] = ["start", "stop", "restart", "logs"];

/** Ids by which steps and people call commands: a daemon is called by its actions only. */
export function commandIds(commands: ReadonlyMap<string, CommandYaml>): string[] {
  return [...commands].flatMap(([id, command]) =>
    command.type === "daemon" ? daemonActions.map((action) => `${id}.${action}`) : [id],
  );
}

/**
 * Puts the parameters into a command, down to what is executed.
 * @throws InvalidRequestError for an unknown id, a missing or unknown parameter, or a workflow that calls itself.
 */
export function expandCommand(
  workspace: Workspace,
  values: Values,
  id: string,
  given: Readonly<Record<string, Json>>,
  calledBy: readonly string[] = [],
): ResolvedCommand {
  const { command, action } = findCommand(workspace, id);
  if (calledBy.includes(id)) {
    throw new InvalidRequestError(`command ${[...calledBy, id].join(" → ")}: a workflow cannot call itself`, {
      code: "command_cycle",
    });
  }
  const params = bindParameters(id, command, given);
  const scope = values.scope(params);
  const confirm = command.confirm === undefined ? undefined : renderText(command.confirm, scope, `command ${id}`).value;
  const common = { id, confirm };
  switch (command.type) {
    case "shell":
    case "nops":
      return { ...common, kind: command.type, cmd: renderText(command.cmd, scope, `command ${id}: cmd`).value };
    case "script":
      return {
        ...common,
        kind: "script",
        path: renderText(command.path, scope, `command ${id}: path`).value,
        args: (command.args ?? []).map((arg) => renderText(arg, scope, `command ${id}: args`).value),
      };
    case "builtin":
      return { ...common, kind: "builtin", cmd: command.cmd, with: renderMap(command.with, scope, `command ${id}: with`) };
    case "workflow":
      return {
        ...common,
        kind: "workflow",
        steps: command.steps.map((step) =>
          expandCommand(workspace, values, step.command, renderMap(step.with, scope, `command ${id}`), [...calledBy, id]),
        ),
      };
    case "daemon":
      return {
        ...common,
        kind: "daemon",
        action: action ?? "start",
        daemon: expandDaemon(workspace, id, command, params, scope),
      };
  }
}

function findCommand(
  workspace: Workspace,
  id: string,
): { readonly command: CommandYaml; readonly action: DaemonAction | undefined } {
  const direct = workspace.commands.get(id);
  if (direct !== undefined && direct.type !== "daemon") return { command: direct, action: undefined };
  const dot = id.lastIndexOf(".");
  const daemon = dot < 0 ? undefined : workspace.commands.get(id.slice(0, dot));
  const action = daemonActions.find((candidate) => candidate === id.slice(dot + 1));
  if (daemon?.type === "daemon" && action !== undefined) return { command: daemon, action };
  const hint = direct === undefined ? suggestion(id, commandIds(workspace.commands)) : ` (a daemon: ${id}.start, ${id}.stop)`;
  throw new InvalidRequestError(`there is no command "${id}"${hint}`, { code: "unknown_command" });
}

function bindParameters(id: string, command: CommandYaml, given: Readonly<Record<string, Json>>): Record<string, Json> {
  const declared = command.params ?? {};
  const bound: Record<string, Json> = {};
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(declared, name)) {
      throw new InvalidRequestError(`command ${id} has no parameter "${name}"${suggestion(name, Object.keys(declared))}`, {
        code: "unknown_parameter",
      });
    }
  }
  for (const [name, parameter] of Object.entries(declared)) {
    const value = Object.hasOwn(given, name) ? given[name] : parameter?.default;
    if (value === undefined && (parameter?.required ?? true)) {
      throw new InvalidRequestError(`command ${id} needs the parameter "${name}"`, { code: "missing_parameter" });
    }
    bound[name] = value ?? "";
  }
  return bound;
}

function renderMap(
  value: Readonly<Record<string, Json>> | undefined,
  scope: TemplateScope,
  where: string,
): Readonly<Record<string, Json>> {
  return renderValue({ ...value }, scope, where).value as Readonly<Record<string, Json>>;
}

const jobId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

function expandDaemon(
  workspace: Workspace,
  id: string,
  daemon: DaemonYaml,
  params: Readonly<Record<string, Json>>,
  scope: TemplateScope,
): ResolvedDaemon {
  const name = `${workspace.project}-${renderText(daemon.name, scope, `command ${id}: name`).value}`;
  if (!jobId.test(name)) {
    throw new InvalidRequestError(`command ${id}: "${name}" is no name for a job`, { code: "bad_daemon_name" });
  }
  const stopTimeoutMs = parseDuration(daemon.stop_timeout ?? "10s");
  if (stopTimeoutMs === undefined || stopTimeoutMs < 0) {
    throw new InvalidRequestError(`command ${id}: stop_timeout is no duration`, { code: "bad_duration" });
  }
  return {
    id: id.slice(0, id.lastIndexOf(".")),
    jobId: name,
    params,
    jobFile: daemon.job === undefined ? undefined : renderText(daemon.job, scope, `command ${id}: job`).value,
    task:
      daemon.task === undefined
        ? undefined
        : {
            driver: daemon.task.driver,
            config: renderMap(daemon.task.config, scope, `command ${id}: config`),
            env: renderMap(daemon.task.env, scope, `command ${id}: env`) as Record<string, string>,
            resources: renderMap(daemon.task.resources, scope, `command ${id}: resources`),
          },
    dispatch: daemon.dispatch ?? false,
    onAlreadyRunning: daemon.on_already_running ?? "error",
    autoRemove: daemon.auto_remove ?? true,
    stopTimeoutMs,
  };
}

/** Whether running the command asks a person, itself or in a step of its workflow. */
export function commandPrompts(command: ResolvedCommand, promptingBuiltins: ReadonlySet<string>): boolean {
  if (command.confirm !== undefined) return true;
  if (command.kind === "workflow") return command.steps.some((step) => commandPrompts(step, promptingBuiltins));
  return command.kind === "builtin" && promptingBuiltins.has(command.cmd);
}
