import type { Command } from "commander";
import { withServerFlags } from "../client-options.ts";
import type { CommandIo } from "../io.ts";

/**
 * The workspace's commands (contract §1): names, flags, help. Bodies are loaded when they run, because most of the time of a
 * short command is loading code.
 */
export function registerWorkspaceCommands(program: Command, io: CommandIo): void {
  deployCommands(program, io);
  stateCommands(program, io);
  lifecycleCommands(program, io);
  serviceCommands(program, io);
  snapshotCommands(program, io);
  otherCommands(program, io);
}

function base(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option("-c, --workspace <folder>", "begin to look for nops.workspace.yml here instead of in the working directory");
}

function json(command: Command): Command {
  return command.option("--json", "print JSON");
}

function asking(command: Command): Command {
  return command.option("-y, --yes", "never ask: confirmations count as given").option("--non-interactive", "the same as --yes");
}

const group = (program: Command, name: string): Command =>
  program.commands.find((command) => command.name() === name) ?? program.command(name);

function deployCommands(program: Command, io: CommandIo): void {
  const deploy = group(program, "deploy").description("the deploy pipeline of a workspace");
  const body = () => import("./deploy.ts");
  asking(json(base(deploy, "run", "run the pipeline; unchanged steps are skipped")))
    .option("--service <name>", "only this service")
    .option("--resume", "go on after a run that did not complete")
    .option("--force", "run every step, whatever the journal says")
    .option("--skip-preflight", "do not look first whether Nomad answers")
    .option("-v, --verbose", "say on stderr how each step was decided")
    .action(async (flags) => {
      if (await (await import("./unchanged.ts")).nothingToDo(flags, io)) return;
      await (await body()).deployRunCommand(flags, io);
    });
  json(base(deploy, "plan", "what a run would do, step by step; changes nothing"))
    .option("--service <name>", "only this service")
    .option("--format <format>", "table or shell", "table")
    .action(async (flags) => (await body()).deployPlanCommand(flags, io));
  asking(json(base(deploy, "step <address>", "run one step by its address, without the journal")))
    .option("--dry-run", "only show it")
    .action(async (address: string, flags) => (await body()).deployStepCommand(address, flags, io));
  json(base(deploy, "why <step>", "why a step would run or be skipped, and which of its inputs changed")).action(
    async (address: string, flags) => (await body()).whyCommand(address, flags, io),
  );
  base(deploy, "eject", "print the built-in pipeline as a file to start from")
    .option("--out <file>", "write it; - is stdout")
    .option("--force", "overwrite the file")
    .action(async (flags) => (await body()).ejectCommand("deploy", flags, io));
}

function stateCommands(program: Command, io: CommandIo): void {
  const state = group(group(program, "deploy"), "state").description("the deploy journal");
  const body = () => import("./state.ts");
  json(base(state, "show", "print the journal")).action(async (flags) => (await body()).showCommand(flags, io));
  asking(base(state, "clear", "delete the journal: every step will run again")).action(async (flags) =>
    (await body()).clearCommand(flags, io),
  );
  base(state, "repair", "rebuild statuses from the records of steps").action(async (flags) =>
    (await body()).repairCommand(flags, io),
  );
}

function lifecycleCommands(program: Command, io: CommandIo): void {
  const body = () => import("./lifecycle.ts");
  for (const [name, description] of [
    ["run", "start the project's jobs; needs a complete deploy"],
    ["stop", "stop the project's daemons and jobs"],
    ["restart", "stop and start again"],
  ] as const) {
    asking(json(base(program, name, description)))
      .option("--skip-preflight", "do not look first whether Nomad answers")
      .action(async (flags) => (await body()).lifecycleCommand(name, flags, io));
  }
  const reset = group(program, "reset").description("tear down what deploys made");
  asking(json(base(reset, "run", "remove the project's jobs, then the journal")))
    .option("--service <name>", "only this service")
    .option("--skip-preflight", "do not look first whether Nomad answers")
    .action(async (flags) => (await body()).resetRunCommand(flags, io));
  json(base(reset, "plan", "what a reset would do"))
    .option("--service <name>", "only this service")
    .action(async (flags) => (await body()).resetPlanCommand(flags, io));
  base(reset, "eject", "print the built-in reset pipeline")
    .option("--out <file>", "write it; - is stdout")
    .option("--force", "overwrite the file")
    .action(async (flags) => (await import("./deploy.ts")).ejectCommand("reset", flags, io));
}

function serviceCommands(program: Command, io: CommandIo): void {
  const services = group(program, "services").description("which services take part");
  const body = () => import("./services.ts");
  json(base(services, "list", "all services")).action(async (flags) => (await body()).listCommand(flags, io));
  for (const name of ["enable", "disable"] as const) {
    asking(json(base(services, `${name} [service]`, `${name} a service`)))
      .option("--apply", "deploy or restart at once")
      .option("--print-plan", "only say what would follow")
      .option("--skip-hooks", "do not run the service's own hooks")
      .action(async (service: string | undefined, flags) => (await body()).toggleCommand(name, service, flags, io));
  }
  json(
    withServerFlags(
      base(
        program,
        "status [section] [service]",
        "what is deployed, runs and is pending in a workspace, or how the operator stands",
      ),
    ),
  )
    .usage("[options] [apps|tools|infra|deploy|daemons] [service] | operator")
    .addHelpText("after", "\nOutside of a workspace, and with --addr, `nops status` is `nops status operator`.\n")
    .action(async (section: string | undefined, service: string | undefined, flags) =>
      (await import("./status.ts")).statusCommand(section, service, flags, io),
    );
}

function snapshotCommands(program: Command, io: CommandIo): void {
  const snapshot = group(program, "snapshot").description("journal and local settings put aside and brought back");
  const body = () => import("./snapshot.ts");
  asking(json(base(snapshot, "create <name>", "save journal and local settings"))).action(async (name: string, flags) =>
    (await body()).createCommand(name, flags, io),
  );
  json(base(snapshot, "list", "all snapshots")).action(async (flags) => (await body()).listCommand(flags, io));
  asking(base(snapshot, "restore <name>", "put a snapshot back; the journal is overwritten")).action(
    async (name: string, flags) => (await body()).restoreCommand(name, flags, io),
  );
  asking(base(snapshot, "rollback", "undo the last restore")).action(async (flags) => (await body()).rollbackCommand(flags, io));
  asking(base(snapshot, "remove <name>", "delete a snapshot")).action(async (name: string, flags) =>
    (await body()).removeCommand(name, flags, io),
  );
}

function otherCommands(program: Command, io: CommandIo): void {
  const body = () => import("./misc.ts");
  json(
    group(program, "workspace")
      .description("make a workspace")
      .command("init [folder]")
      .description("the smallest workspace that deploys something"),
  )
    .option("--project <name>", "name of the project; default: that of the folder")
    .action(async (folder: string | undefined, flags) => (await body()).initCommand(folder, flags, io));
  json(base(program, "validate", "check every file of the workspace")).action(async (flags) =>
    (await body()).validateCommand(flags, io),
  );
  const command = group(program, "command").description("the workspace's named commands");
  json(base(command, "list", "all commands")).action(async (flags) => (await body()).commandListCommand(flags, io));
  asking(base(command, "run <id>", "run a command; a daemon's are ID.start, ID.stop, ID.restart, ID.logs"))
    .option("--with <name=value...>", "parameters")
    .action(async (id: string, flags) => (await body()).commandRunCommand(id, flags, io));
}
