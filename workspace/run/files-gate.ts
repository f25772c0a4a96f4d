import { statSync } from "node:fs";
import { join } from "node:path";
import { NopsError } from "../../model/errors.ts";
import type { CommandYaml } from "../config/command-schema.ts";
import { renderText } from "../config/template.ts";
import type { Values } from "../config/values.ts";
import type { Workspace } from "../config/workspace.ts";
import type { ResolvedGate } from "../pipeline/types.ts";

export interface GateResult {
  /** The step runs as far as the gate is concerned. */
  readonly open: boolean;
  /** For the brackets, when it is shut. */
  readonly words: string;
}

/**
 * Looks at the files that a command declares (workspace §5): `readable` opens when all selected ones are there, `missing`
 * when none is.
 * @throws NopsError `gate_misconfigured` for an unknown command, id or template: the step then counts as failed.
 */
export function probeGate(gate: ResolvedGate, workspace: Workspace, values: Values): GateResult {
  const command = workspace.commands.get(gate.command);
  if (command === undefined) throw misconfigured(`there is no command "${gate.command}"`);
  const selected = selectFiles(gate, command);
  const scope = values.scope({ ...gate.with });
  const there = selected.filter(({ id, path }) => {
    const file = renderText(path, scope, `command ${gate.command}: files.${id}`).value;
    return statSync(join(workspace.root, file), { throwIfNoEntry: false }) !== undefined;
  });
  if (gate.state === "readable") {
    const absent = selected.filter((file) => !there.includes(file)).map(({ id }) => id);
    return { open: absent.length === 0, words: `files_gate: missing [${absent.join(", ")}]` };
  }
  return { open: there.length === 0, words: `files_gate: present [${there.map(({ id }) => id).join(", ")}]` };
}

function selectFiles(gate: ResolvedGate, command: CommandYaml): readonly { readonly id: string; readonly path: string }[] {
  const readable = Object.entries(command.files ?? {}).filter(([, file]) => file.mode !== "write");
  const { require } = gate;
  if (typeof require !== "string") {
    return require.map((id) => {
      const file = command.files?.[id];
      if (file === undefined) throw misconfigured(`command "${gate.command}" declares no file "${id}"`);
      if (file.mode === "write") throw misconfigured(`file "${id}" of command "${gate.command}" is only written`);
      return { id, path: file.path };
    });
  }
  const chosen = require === "all" ? readable : readable.filter(([, file]) => file.required !== false);
  if (chosen.length === 0) throw misconfigured(`command "${gate.command}" declares no file that the gate could look at`);
  return chosen.map(([id, file]) => ({ id, path: file.path }));
}

function misconfigured(message: string): NopsError {
  return new NopsError(`files_gate: ${message}`, { code: "gate_misconfigured" });
}
