import { planJson, planTable } from "../../workspace/app/deploy-plan.ts";
import { restartProject, runProject, stopProject } from "../../workspace/app/lifecycle.ts";
import { planReset, resetRun } from "../../workspace/app/reset.ts";
import type { CommandIo } from "../io.ts";
import { printJson } from "../output.ts";
import { inWorkspace, type WorkspaceFlags } from "./host.ts";

interface Flags extends WorkspaceFlags {
  readonly service?: string;
  readonly skipPreflight?: boolean;
}

const bodies = { run: runProject, stop: stopProject, restart: restartProject } as const;

export async function lifecycleCommand(name: keyof typeof bodies, flags: Flags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    await bodies[name](session, { skipPreflight: flags.skipPreflight === true });
  });
}

export async function resetRunCommand(flags: Flags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const service = flags.service === undefined ? {} : { service: flags.service };
    await resetRun(session, { ...service, skipPreflight: flags.skipPreflight === true });
  });
}

export async function resetPlanCommand(flags: Flags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const view = { plan: planReset(session, flags.service), service: flags.service, decisions: new Map() };
    if (flags.json === true) printJson(io, planJson(session, view));
    else io.out(planTable(session, view));
  });
}
