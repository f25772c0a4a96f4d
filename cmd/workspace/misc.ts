import * as fs from "node:fs";
import { resolve } from "node:path";
import { makeFolders } from "../../model/folders.ts";
import { initWorkspace } from "../../workspace/app/init.ts";
import { parseParameters, runCommand } from "../../workspace/app/single.ts";
import { validateWorkspace } from "../../workspace/app/validate.ts";
import { commandIds } from "../../workspace/pipeline/commands.ts";
import type { CommandIo } from "../io.ts";
import { plural, printJson, table } from "../output.ts";
import { inWorkspace, type WorkspaceFlags } from "./host.ts";

export async function initCommand(
  folder: string | undefined,
  flags: { readonly project?: string; readonly json?: boolean },
  io: CommandIo,
): Promise<void> {
  const root = resolve(io.workingDirectory, folder ?? ".");
  makeFolders(fs, root, 0o777);
  const files = initWorkspace(root, flags.project);
  if (flags.json === true) return printJson(io, { root, files });
  for (const file of files) io.out(`${file}\n`);
  io.err("next: `nops deploy plan`, then `nops deploy run`\n");
}

export async function validateCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const summary = validateWorkspace(session);
    if (flags.json === true) return printJson(io, summary);
    for (const file of summary.inert) io.err(`${file}: has no phases; the built-in pipeline is used\n`);
    io.out(
      `${session.workspace.project}: ${plural(summary.services, "service")}, ${plural(summary.steps, "step")}, no mistakes\n`,
    );
  });
}

export async function commandListCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async ({ workspace }) => {
    const rows = commandIds(workspace.commands).map((id) => {
      const command = workspace.commands.get(id) ?? workspace.commands.get(id.slice(0, id.lastIndexOf(".")));
      return { id, type: command?.type ?? "", description: command?.description ?? "" };
    });
    if (flags.json === true) return printJson(io, { commands: rows });
    io.out(
      table(
        ["COMMAND", "TYPE", "DESCRIPTION"],
        rows.map((row) => [row.id, row.type, row.description]),
      ),
    );
  });
}

export async function commandRunCommand(
  id: string,
  flags: WorkspaceFlags & { readonly with?: readonly string[] },
  io: CommandIo,
): Promise<void> {
  await inWorkspace(io, flags, (session) => runCommand(session, id, parseParameters(flags.with ?? [])));
}
