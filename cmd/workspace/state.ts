import { clearState, repairState } from "../../workspace/app/state.ts";
import { paths } from "../../workspace/config/paths.ts";
import type { CommandIo } from "../io.ts";
import { printJson } from "../output.ts";
import { inWorkspace, type WorkspaceFlags } from "./host.ts";

const nothing = `there is no deploy state yet (${paths.state}); \`nops deploy run\` makes it\n`;

export async function showCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const text = session.store.text();
    if (text === undefined) return flags.json === true ? printJson(io, null) : io.err(nothing);
    if (flags.json === true) printJson(io, session.store.load());
    else {
      session.store.load();
      io.out(text);
    }
  });
}

export async function clearCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    io.err((await clearState(session)) ? "the deploy state is deleted; every step will run again\n" : nothing);
  });
}

export async function repairCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const outcome = await repairState(session);
    if (outcome === "absent") io.err(nothing);
    else io.err(outcome === "repaired" ? "statuses rebuilt from the records of steps\n" : "nothing to repair\n");
  });
}
