/** The command line: names, flags and help. Each command's body is loaded only when it runs, to keep starting fast. */
import { Command, CommanderError, Option } from "commander";
import { allStates } from "../model/lifecycle.ts";
import { syncStates } from "../model/sync-state.ts";
import { withClientFlags, withServerFlags } from "./client-options.ts";
import type { ScalarOption } from "./config/options.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import type { CommandIo } from "./io.ts";
import { version } from "./version.ts";
import { registerWorkspaceCommands } from "./workspace/register.ts";

/** Builds the program; commands print through `io` and throw what goes wrong. `configurationOptions` are the configuration's keys as flags. */
export function createProgram(io: CommandIo, configurationOptions: readonly ScalarOption[]): Command {
  const program = new Command("nops")
    .description("GitOps operator and deploy pipeline for HashiCorp Nomad")
    .version(version, "-V, --version")
    .showSuggestionAfterError()
    // What is refused is thrown and printed where every other error is.
    .configureOutput({ writeOut: io.out, writeErr: io.err, outputError: () => undefined })
    .exitOverride();
  program.commandsGroup("Run:");
  operatorCommands(program, io, configurationOptions);
  program.commandsGroup("Before a push or a first start:");
  checkoutCommands(program, io, configurationOptions);
  program.commandsGroup("Ask the operator:");
  readCommands(program, io);
  program.commandsGroup("Tell the operator:");
  actCommands(program, io);
  program.commandsGroup("The operator's database:");
  administrationCommands(program, io);
  program.commandsGroup("Workspace:");
  registerWorkspaceCommands(program, io);
  program.commandsGroup("Help:");
  program.helpCommand(true);
  return program;
}

/** The file and every key that can be said without one. */
function withConfiguration(command: Command, options: readonly ScalarOption[]): Command {
  command.option("--config <file>", "configuration file (NOPS_CONFIG; default nops.yml in the working directory)");
  for (const option of options) {
    const [main = "", ...others] = option.flags;
    command.option(`${main} ${option.kind === "boolean" ? "[value]" : "<value>"}`, flagHelp(option));
    for (const other of others) command.option(`${other} <value>`, `short for ${main}`);
  }
  return command;
}

/** What the key means, what may stand there and what stands there unless it is set. */
function flagHelp(option: ScalarOption): string {
  const allowed = option.kind === "list" ? "comma-separated" : option.allowed === "text" ? "" : option.allowed;
  const notes = [allowed, option.default === undefined ? "" : `default ${option.default}`].filter((note) => note !== "");
  return notes.length === 0 ? option.description : `${option.description} (${notes.join("; ")})`;
}

function operatorCommands(program: Command, io: CommandIo, configurationOptions: readonly ScalarOption[]): void {
  withConfiguration(
    program.command("serve").description("run the operator").option("--read-only", "detect and show, never write to Nomad"),
    configurationOptions,
  ).action(async (flags) => (await import("./commands/serve.ts")).serve(flags, io));
  program
    .command("demo")
    .description("simulator, example repository, operator and API in a temporary folder")
    .option("--port <port>", "port of the API; 0 takes a free one", "8080")
    .option("--keep", "keep the temporary folder at the end")
    .option("--dev-agent", "start a real Nomad dev agent from PATH instead of the simulator")
    .action(async (flags) => (await import("./commands/demo.ts")).demo(flags, io));
  program
    .command("dev")
    .description("only the Nomad simulator, on loopback; prints NOMAD_ADDR")
    .option("--port <port>", "port; 0 takes a free one", "4646")
    .option("--acl", "ACLs on, to be bootstrapped as a real server")
    .option("--nodes <count>", "number of client nodes", "1")
    .option("--speed <factor>", "how many times faster its clock runs", "1")
    .option("--control", "expose the interface that switches faults")
    .action(async (flags) => (await import("./commands/dev.ts")).dev(flags, io));
}

function checkoutCommands(program: Command, io: CommandIo, configurationOptions: readonly ScalarOption[]): void {
  program
    .command("check [paths...]")
    .description("job files, hooks, meta keys and windows of a checkout; exit 1 with file:line for each error")
    .option("--offline", "parse without Nomad, by nops itself")
    .option("--config <file>", "take the repository's rules from this configuration")
    .option("--json", "print JSON")
    .action(async (paths: string[], flags) => (await import("./commands/check.ts")).check(paths, flags, io));
  program
    .command("plan [path]")
    .description("what nops would do for a checkout against the cluster; writes nothing")
    .option("--ref <ref>", "a commit or branch instead of the checkout's HEAD")
    .option("--format <format>", "text, markdown or json", "text")
    .option("--json", "short for --format json")
    .option("--config <file>", "take the repository's rules from this configuration")
    .action(async (path: string | undefined, flags) => (await import("./commands/plan.ts")).plan(path, flags, io));
  withConfiguration(
    program
      .command("doctor")
      .description("preflight: Nomad, rights, git, database, files; each line ok, warn or fail with the cure")
      .option("--json", "print JSON"),
    configurationOptions,
  ).action(async (flags) => (await import("./commands/doctor.ts")).doctor(flags, io));
}

/** A command about one deployment. */
function deploymentCommand(parent: Command, name: string, description: string): Command {
  return clientCommand(parent, name, description).argument("<deployment>", "its ID, the beginning of it, or its job");
}

/** A command that asks the server. */
function clientCommand(parent: Command, name: string, description: string): Command {
  return withClientFlags(parent.command(name).description(description)).option("--json", "print JSON");
}

/** One that lists: what others take as a job's namespace narrows it. */
function listCommand(parent: Command, name: string, description: string): Command {
  return withServerFlags(parent.command(name).description(description))
    .option("-n, --namespace <namespace>", "only of this namespace")
    .option("--json", "print JSON");
}

function readCommands(program: Command, io: CommandIo): void {
  const body = () => import("./commands/read.ts");
  listCommand(program, "jobs", "list jobs and how they stand")
    .addOption(new Option("--state <sync>", "only jobs in this sync state").choices(syncStates))
    .action(async (flags) => (await body()).jobs(flags, io));
  clientCommand(program, "job <job>", "one job").action(async (name: string, flags) => (await body()).job(name, flags, io));
  listCommand(program, "deployments", "list deployments, newest first")
    .addOption(new Option("--state <state>", "only deployments in this state").choices(allStates))
    .option("--job <job>", "only deployments of this job, or namespace/job")
    .option("--limit <count>", "how many, at most 500", "50")
    .action(async (flags) => (await body()).deployments(flags, io));
  deploymentCommand(program, "deployment", "one deployment: diff, hook runs, events").action(async (id: string, flags) =>
    (await body()).deployment(id, flags, io),
  );
  listCommand(program, "events", "the audit log")
    .option("--follow", "go on as events happen")
    .option("--job <job>", "only events of this job, or namespace/job")
    .option("--limit <count>", "how many, at most 500", "50")
    .action(async (flags) => (await body()).events(flags, io));
  clientCommand(program, "explain <job>", "why nops does or does not deploy a job").action(async (name: string, flags) =>
    (await body()).explain(name, flags, io),
  );
  clientCommand(program, "windows [job]", "when sync windows are open")
    .option("--from <time>", "list the openings from then on: ISO 8601; default now")
    .option("--to <time>", "list the openings until then: ISO 8601; default a week later")
    .option("--cron <expression>", "a window that is not in the cluster: five cron fields")
    .option("--duration <duration>", "with --cron: how long it stays open")
    .option("--time-zone <zone>", "with --cron: IANA zone", "UTC")
    .action(async (name: string | undefined, flags) => (await import("./commands/windows.ts")).windows(name, flags, io));
}

function actCommands(program: Command, io: CommandIo): void {
  const body = () => import("./commands/act.ts");
  deploymentCommand(program, "approve", "approve a deployment after its diff was shown")
    .option("--yes", "do not ask")
    .option("--comment <text>", "kept with the approval")
    .action(async (id: string, flags) => (await body()).approve(id, flags, io));
  deploymentCommand(program, "reject", "reject a waiting deployment")
    .option("--comment <text>", "kept with the decision")
    .action(async (id: string, flags) => (await body()).reject(id, flags, io));
  deploymentCommand(program, "retry", "try a failed or rejected deployment again")
    .option("--reschedule", "ask Nomad to place the job again first")
    .option("--rerun-unknown-hooks", "hooks whose outcome is unknown may run again")
    .option("--yes", "do not ask")
    .action(async (id: string, flags) => (await body()).retry(id, flags, io));
  deploymentCommand(program, "promote", "promote waiting canaries").action(async (id: string, flags) =>
    (await body()).promote(id, flags, io),
  );
  deploymentCommand(program, "fail", "fail waiting canaries").action(async (id: string, flags) =>
    (await body()).fail(id, flags, io),
  );
  clientCommand(program, "pause [job]", "keep a job, or every job, from starting deployments")
    .option("--all", "every job")
    .option("--reason <text>", "why; shown to everybody")
    .action(async (name: string | undefined, flags) => (await body()).pause(name, flags, io));
  clientCommand(program, "resume [job]", "end a pause")
    .option("--all", "the pause of every job")
    .action(async (name: string | undefined, flags) => (await body()).resume(name, flags, io));
  clientCommand(program, "deploy-now <job>", "deploy once although the sync window is closed")
    .option("--yes", "do not ask")
    .action(async (name: string, flags) => (await body()).deployNow(name, flags, io));
  const hook = program.command("hook").description("hook runs");
  clientCommand(hook, "resolve <run> <outcome>", "settle an unknown outcome: ran or did-not-run").action(
    async (run: string, outcome: string, flags) => (await body()).resolveHook(run, outcome, flags, io),
  );
  clientCommand(program, "fetch [repository]", "look at a repository, or all, now")
    .option("--accept", "take a commit that removes most of the repository's jobs")
    .action(async (repository: string | undefined, flags) => (await body()).fetchRepository(repository, flags, io));
  clientCommand(program, "wait <job>", "wait until the job is completed")
    .option("--commit <sha>", "at this commit; the beginning of its id does")
    .option("--timeout <duration>", "how long", "10m")
    .action(async (name: string, flags) => (await body()).wait(name, flags, io));
}

function administrationCommands(program: Command, io: CommandIo): void {
  const body = () => import("./commands/administration.ts");
  const local = (parent: Command, name: string, description: string): Command =>
    parent
      .command(name)
      .description(description)
      .option("--data-dir <folder>", "folder of the database (NOPS_DATA_DIR; default data_dir of the configuration)")
      .option("--config <file>", "configuration that names it (NOPS_CONFIG; default nops.yml in the working directory)");
  const audit = program.command("audit").description("the audit log's chain");
  local(audit, "verify", "check every event against the chain")
    .option("--json", "print JSON")
    .action(async (flags) => (await body()).auditVerify(flags, io));
  local(audit, "export", "print every event as a JSON line")
    .option("--since <time>", "ISO 8601")
    .action(async (flags) => (await body()).auditExport(flags, io));
  local(program, "backup <file>", "copy the database, also while nops runs")
    .option("--json", "print JSON")
    .action(async (file: string, flags) => (await body()).backup(file, flags, io));
  local(program, "restore [file]", "put a backup in place, or accept a restored one")
    .option("--accept", "let nops write again after a restore, once it is restarted")
    .option("--json", "print JSON")
    .action(async (file: string | undefined, flags) => (await body()).restore(file, flags, io));
  const token = program.command("token").description("API tokens, on the database directly");
  local(token, "create <name>", "create a token; prints its secret once, alone on stdout")
    .option("--capability <capability...>", "read approve promote retry deploy-now pause fetch resolve admin", ["read"])
    .option("--namespace <glob...>", "namespaces it reaches", ["*"])
    .option("--ttl <duration>", "how long it lives")
    .option("--owner <person>", "whose token it is, such as local:anna: what it approves counts as theirs")
    .option("--json", "print JSON")
    .action(async (name: string, flags) => (await body()).tokenCreate(name, flags, io));
  local(token, "list", "list tokens without their secrets")
    .option("--json", "print JSON")
    .action(async (flags) => (await body()).tokenList(flags, io));
  local(token, "revoke <id>", "revoke a token")
    .option("--json", "print JSON")
    .action(async (id: string, flags) => (await body()).tokenRevoke(id, flags, io));
  program
    .command("user")
    .description("people who log in with a password")
    .command("hash <name>")
    .description("print a line for the users file; the password comes from the terminal or stdin")
    .option("--email <address>", "so that nobody approves their own commit where authors may not")
    .action(async (name: string, flags) => (await import("./commands/user.ts")).userHash(name, flags, io));
  program
    .command("secret")
    .description("secrets")
    .command("generate")
    .description("print a random secret for a webhook")
    .action(() => io.out(`${Buffer.from(io.random.bytes(32)).toString("base64url")}\n`));
}

/** Parses and runs one command line. Commander's own refusals become exit code 2, help and version 0. */
export async function runProgram(argv: readonly string[], io: CommandIo): Promise<void> {
  const program = createProgram(io, await configurationOptionsFor(argv[0]));
  try {
    await withCompletion(program, argv, io);
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    // A group without its command has printed its help.
    if (error.code === "commander.help") throw new CommandError(exitCodes.usage, "");
    throw new CommandError(exitCodes.usage, error.message.replace(/^error: /, ""), usageHint(program, argv));
  }
}

/** Where the words that were not understood are explained. */
function usageHint(program: Command, argv: readonly string[]): string {
  let command = program;
  for (const word of argv) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) break;
    command = next;
  }
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return `${names.join(" ")} --help`;
}

/** The real commands are loaded only for themselves; everywhere else there is a line of help. */
async function withCompletion(program: Command, argv: readonly string[], io: CommandIo): Promise<void> {
  if (argv[0] === "completion" || argv[0] === "complete")
    await (await import("./completion.ts")).addCompletion(program, argv, io);
  else program.command("completion <shell>").description("print the completion script of bash, zsh or fish");
}

/** The configuration's schema takes a third of the time that starting takes, and only few commands have its flags. */
async function configurationOptionsFor(firstArgument: string | undefined): Promise<readonly ScalarOption[]> {
  const needed = ["serve", "doctor", "help", "completion", "complete"].includes(firstArgument ?? "");
  return needed ? (await import("./config/options.ts")).scalarOptions() : [];
}
