/** Commands that act on a running nops: approve, reject, retry, promote, fail, pause, resume, deploy-now, hook resolve, fetch, wait. */
import type { DeploymentDetailJson, DeploymentJson } from "../../api/contract.ts";
import { parseDuration } from "../../model/duration.ts";
import type { JobDiff } from "../../model/nomad.ts";
import { type ClientFlags, clientFor, jobFor } from "../client-options.ts";
import { deploymentIdFor } from "../deployment-id.ts";
import { diffText } from "../diff-text.ts";
import { CommandError, exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { printable, printJson } from "../output.ts";

export interface ActFlags extends ClientFlags {
  readonly yes?: boolean;
  readonly comment?: string;
  readonly reason?: string;
  readonly all?: boolean;
  readonly reschedule?: boolean;
  readonly rerunUnknownHooks?: boolean;
  readonly accept?: boolean;
  readonly commit?: string;
  readonly timeout?: string;
}

/** Shows what will happen, asks, and approves exactly the hash of what was shown. */
export async function approve(text: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const id = await deploymentIdFor(text, client, flags, io);
  const seen = await client.deployment(id);
  if (seen.state !== "pending_approval") {
    throw new CommandError(
      exitCodes.refused,
      `deployment ${id} does not wait for approval: it is ${seen.state}`,
      `nops job ${seen.namespace}/${seen.job} shows its latest deployments`,
    );
  }
  io.err(describe(seen, io));
  await confirm(`approve ${seen.namespace}/${seen.job}?`, flags, io);
  report(await client.approve(id, seen.spec_hash, flags.comment), flags, io);
}

function describe(seen: DeploymentDetailJson, io: CommandIo): string {
  const hooks = (phase: "pre" | "post"): string[] =>
    seen.hooks
      .filter((hook) => hook.phase === phase)
      .map((hook) => `  run ${phase}-hook ${hook.job} (${hook.revision}, at most ${hook.timeout_seconds} s)`);
  const steps = [
    ...(seen.mode === "apply" ? [...hooks("pre"), "  register the job"] : []),
    "  wait until it is healthy",
    ...hooks("post"),
  ];
  const diff = seen.diff === null ? "no differences\n" : diffText(seen.diff as unknown as JobDiff, io.colour.err);
  return `${printable(`${seen.commit_sha.slice(0, 12)} ${seen.commit_subject} (${seen.commit_author})`)}\n\n${diff}\nThis will:\n${steps.join("\n")}\n`;
}

async function confirm(question: string, flags: ActFlags, io: CommandIo): Promise<void> {
  if (flags.yes) return;
  if (!io.interactive)
    throw new CommandError(exitCodes.usage, "nobody can be asked here", "pass --yes to go ahead without a question");
  if (!(await io.confirm(question))) throw new CommandError(exitCodes.failed, "not confirmed; nothing was done");
}

export async function reject(text: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  report(await client.reject(await deploymentIdFor(text, client, flags, io), flags.comment), flags, io);
}

/** Asks a person first when an earlier hook run's outcome is unknown (design D33). */
export async function retry(text: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const id = await deploymentIdFor(text, client, flags, io);
  const seen = await client.deployment(id);
  const unknown = seen.hook_runs.filter((run) => run.state === "unknown" && run.resolution === null);
  let rerun = flags.rerunUnknownHooks ?? false;
  if (unknown.length > 0 && !rerun) {
    const names = unknown.map((run) => run.job).join(", ");
    io.err(`nobody can tell whether these hooks ran: ${names}\n`);
    if (!io.interactive)
      throw new CommandError(
        exitCodes.refused,
        `the outcome of ${names} is unknown`,
        "settle it with: nops hook resolve RUN ran|did-not-run, or pass --rerun-unknown-hooks",
      );
    await confirm("may they run again?", flags, io);
    rerun = true;
  }
  const wish = { ...(flags.reschedule ? { reschedule: true } : {}), ...(rerun ? { rerun_unknown_hooks: true } : {}) };
  report(await client.retry(id, wish), flags, io);
}

export async function promote(text: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  report(await client.promote(await deploymentIdFor(text, client, flags, io)), flags, io);
}

export async function fail(text: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  report(await client.fail(await deploymentIdFor(text, client, flags, io)), flags, io);
}

export async function pause(name: string | undefined, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  if (flags.reason === undefined || flags.reason.trim() === "")
    throw new CommandError(exitCodes.usage, "--reason is needed, so that others know why");
  const target = jobOrAll(name, flags);
  const answer =
    target === undefined ? await client.pauseAll(flags.reason) : await client.pauseJob(jobFor(target, flags, io), flags.reason);
  if (flags.json) printJson(io, answer);
  else io.out(`paused ${target ?? "every job"}\n`);
}

export async function resume(name: string | undefined, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const target = jobOrAll(name, flags);
  const answer = target === undefined ? await client.resumeAll() : await client.resumeJob(jobFor(target, flags, io));
  if (flags.json) printJson(io, answer);
  else io.out(`resumed ${target ?? "every job"}\n`);
}

function jobOrAll(name: string | undefined, flags: ActFlags): string | undefined {
  if ((name === undefined) === (flags.all !== true))
    throw new CommandError(exitCodes.usage, "name one job, or pass --all", "nops jobs lists the jobs");
  return name;
}

export async function deployNow(name: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const key = jobFor(name, flags, io);
  const seen = await client.job(key);
  if (seen.spec_hash === null) throw new CommandError(exitCodes.refused, `git has no spec of ${key}`);
  io.err(seen.diff === null ? "no differences\n" : diffText(seen.diff as unknown as JobDiff, io.colour.err));
  await confirm(`deploy ${key} now, outside of its sync window?`, flags, io);
  const { deployment } = await client.deployNow(key, seen.spec_hash);
  if (flags.json) printJson(io, { deployment });
  else
    io.out(
      deployment === null
        ? "requested; the deployment starts with the next look at the job\n"
        : `${deployment.id} ${deployment.state}\n`,
    );
}

export async function resolveHook(runId: string, outcome: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const resolution = outcome === "ran" ? "ran" : outcome === "did-not-run" ? "did_not_run" : undefined;
  if (resolution === undefined) throw new CommandError(exitCodes.usage, `"${outcome}" is not an outcome`, "ran or did-not-run");
  const client = clientFor(flags, io);
  const deploymentId = await ownerOf(runId, client);
  const run = await client.resolveHook(deploymentId, runId, resolution);
  if (flags.json) printJson(io, run);
  else io.out(`${run.job}: ${outcome}\n`);
}

/** A hook run is named by its own id; the API wants its deployment too. */
async function ownerOf(runId: string, client: ReturnType<typeof clientFor>): Promise<string> {
  let cursor: string | undefined;
  do {
    const page = await client.deployments({ state: "failed", limit: 100, cursor });
    for (const { id } of page.deployments) {
      const detail = await client.deployment(id);
      if (detail.hook_runs.some((run) => run.id === runId)) return id;
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  throw new CommandError(
    exitCodes.notFound,
    `no hook run "${runId}"`,
    "nops deployment ID lists the runs of a deployment (--json shows their ids)",
  );
}

export async function fetchRepository(repository: string | undefined, flags: ActFlags, io: CommandIo): Promise<void> {
  const answer = await clientFor(flags, io).fetch(repository, flags.accept ?? false);
  if (flags.json) printJson(io, answer);
  else io.out(`fetching ${repository ?? "every repository"}\n`);
}

const pollMs = 500;

/** Until the job is completed at the commit (any prefix of at least 7 digits); exit 1 when it failed or was rejected. */
export async function wait(name: string, flags: ActFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const key = jobFor(name, flags, io);
  const timeoutMs = parseDuration(flags.timeout ?? "10m");
  if (timeoutMs === undefined || timeoutMs <= 0)
    throw new CommandError(exitCodes.usage, `--timeout: "${flags.timeout}" is not a duration`, "for example 10m");
  const deadline = io.clock.now() + timeoutMs;
  let shown = "";
  for (;;) {
    const seen = await client.job(key).catch(async (error: unknown) => {
      const mayCome = flags.commit !== undefined || (await isStarting(client));
      if (!mayCome || io.clock.now() >= deadline || exitCodeOf(error) !== exitCodes.notFound) throw error;
      return undefined;
    });
    if (seen === undefined) {
      await nextLook(io);
      continue;
    }
    const atCommit = flags.commit === undefined || (seen.commit?.startsWith(flags.commit) ?? false);
    const deployment = seen.last_deployment;
    if (atCommit && seen.sync === "sync") return done(deployment, flags, io);
    if (
      atCommit &&
      deployment !== null &&
      (deployment.state === "failed" || deployment.state === "rejected") &&
      deployment.retried_by === null &&
      deployment.spec_hash === seen.spec_hash
    ) {
      throw new CommandError(
        exitCodes.failed,
        `${key}: deployment ${deployment.id} ${deployment.state}${deployment.error === null ? "" : `: ${deployment.error}`}`,
      );
    }
    const cure = seen.sync === "pending" && deployment !== null ? ` (nops approve ${deployment.id})` : "";
    const line = `${seen.sync}: ${seen.message}${cure}\n`;
    if (line !== shown) io.err(printable(line));
    shown = line;
    if (io.clock.now() >= deadline)
      throw new CommandError(
        exitCodes.failed,
        `${key} was not completed within ${flags.timeout ?? "10m"}: ${seen.message}`,
        `nops explain ${key} says what it waits for`,
      );
    await nextLook(io);
  }
}

/** Whether some repository has not been read yet, so that a job may be in it that nobody knows. */
async function isStarting(client: ReturnType<typeof clientFor>): Promise<boolean> {
  return (await client.status()).repositories.some(({ commit }) => commit === null);
}

async function nextLook(io: CommandIo): Promise<void> {
  await io.clock.sleep(pollMs, io.interrupted).catch(() => {
    throw new CommandError(exitCodes.interrupted, "interrupted");
  });
}

function done(deployment: DeploymentJson | null, flags: ActFlags, io: CommandIo): void {
  if (flags.json) printJson(io, { deployment });
  else io.out(deployment === null ? "in sync\n" : `${deployment.id} ${deployment.state}\n`);
}

function report(deployment: DeploymentJson, flags: ActFlags, io: CommandIo): void {
  if (flags.json) printJson(io, deployment);
  else io.out(`${deployment.id} ${deployment.state}\n`);
}
