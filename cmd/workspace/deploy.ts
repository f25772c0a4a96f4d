import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { RefusedError } from "../../model/errors.ts";
import { planJson, planShell, planTable, viewPlan } from "../../workspace/app/deploy-plan.ts";
import { defaultsNotice, deployRun } from "../../workspace/app/deploy-run.ts";
import { findStep, runSingleStep } from "../../workspace/app/single.ts";
import { explainStep, formatWhy } from "../../workspace/app/why.ts";
import { paths } from "../../workspace/config/paths.ts";
import { findRoot } from "../../workspace/config/root.ts";
import { defaultDeployYaml, defaultResetYaml } from "../../workspace/pipeline/defaults.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { printJson } from "../output.ts";
import { inWorkspace, type WorkspaceFlags } from "./host.ts";

interface RunFlags extends WorkspaceFlags {
  readonly service?: string;
  readonly resume?: boolean;
  readonly force?: boolean;
  readonly skipPreflight?: boolean;
}

export async function deployRunCommand(flags: RunFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const outcome = await deployRun(session, {
      ...(flags.service === undefined ? {} : { service: flags.service }),
      force: flags.force === true,
      resume: flags.resume === true,
      skipPreflight: flags.skipPreflight === true,
      verbose: flags.verbose === true,
    });
    if (outcome.kind === "cancelled") session.notice("cancelled; nothing was run");
  });
}

interface PlanFlags extends WorkspaceFlags {
  readonly service?: string;
  readonly format?: string;
}

export async function deployPlanCommand(flags: PlanFlags, io: CommandIo): Promise<void> {
  const format = flags.format ?? "table";
  if (format !== "table" && format !== "shell")
    throw new CommandError(exitCodes.usage, `--format is table or shell, not "${format}"`);
  await inWorkspace(io, flags, async (session) => {
    const notice = flags.json === true ? undefined : defaultsNotice(session, flags.service);
    if (notice !== undefined) session.notice(notice);
    const view = viewPlan(session, flags.service);
    if (flags.json === true) printJson(io, planJson(session, view));
    else io.out(format === "shell" ? planShell(session, view) : planTable(session, view));
  });
}

interface StepFlags extends WorkspaceFlags {
  readonly dryRun?: boolean;
}

export async function deployStepCommand(address: string, flags: StepFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    if (flags.dryRun !== true) return runSingleStep(session, address);
    const step = findStep(session, address);
    const view = { address, type: step.body.type, cmd: step.shown, action_hash: step.fingerprint.hash };
    if (flags.json === true) printJson(io, view);
    else io.out(`${address}\n  ${step.body.type}: ${step.shown}\n`);
  });
}

export async function whyCommand(address: string, flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const why = explainStep(session, address);
    if (flags.json === true) printJson(io, why);
    else io.out(formatWhy(why));
  });
}

interface EjectFlags extends WorkspaceFlags {
  readonly out?: string;
  readonly force?: boolean;
}

/** Prints the built-in pipeline; writes it only with `--out`, and over an existing file only with `--force`. */
export async function ejectCommand(pipeline: "deploy" | "reset", flags: EjectFlags, io: CommandIo): Promise<void> {
  const text = pipeline === "deploy" ? defaultDeployYaml : defaultResetYaml;
  if (flags.out === undefined || flags.out === "-") return io.out(text);
  const path = resolve(io.workingDirectory, flags.out);
  if (existsSync(path) && flags.force !== true) {
    const inert = await isInert(flags, io, path, pipeline);
    throw new RefusedError(`${flags.out} is already there${inert ? " (inert: it has no phases)" : ""}`, {
      code: "eject_exists",
      hint: "--force overwrites it",
    });
  }
  writeFileSync(path, text);
  io.err(`written to ${flags.out}\n`);
}

async function isInert(flags: EjectFlags, io: CommandIo, path: string, pipeline: "deploy" | "reset"): Promise<boolean> {
  try {
    return await inWorkspace(io, flags, async (session) => {
      const own = resolve(findRoot(session.host.root), paths[pipeline]);
      return path === own && session.workspace.inert.some(({ file }) => file === paths[pipeline]);
    });
  } catch {
    return false;
  }
}
