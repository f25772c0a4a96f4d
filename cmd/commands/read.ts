/** Commands that only read: jobs, job, deployments, deployment, events, explain. */
import type { DeploymentDetailJson, DeploymentJson, EventJson, JobJson } from "../../api/contract.ts";
import type { JobDiff } from "../../model/nomad.ts";
import type { ApiClient } from "../api-client.ts";
import { type ClientFlags, clientFor, jobFilterFor, jobFor } from "../client-options.ts";
import { deploymentIdFor } from "../deployment-id.ts";
import { diffText } from "../diff-text.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { ago, describeFacts, paint, paintState, printable, printJson, table } from "../output.ts";
import { printWarnings } from "../warnings.ts";

export interface ListFlags extends ClientFlags {
  readonly state?: string;
  readonly job?: string;
  readonly limit?: string;
  readonly follow?: boolean;
}

export async function jobs(flags: ListFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const answer = await client.jobs({ namespace: flags.namespace, state: flags.state });
  if (flags.json) return printJson(io, answer);
  const rows = answer.jobs.map((job) => [
    job.namespace,
    job.job,
    job.sync,
    job.policy,
    job.last_deployment === null ? "-" : `${job.last_deployment.state} ${ago(job.last_deployment.updated_at, io.clock.now())}`,
    job.file ?? "-",
  ]);
  io.out(table(["NAMESPACE", "JOB", "SYNC", "POLICY", "LAST DEPLOYMENT", "FILE"], rows, paintColumn(io, 2)));
  if (rows.length === 0)
    io.err(
      flags.state === undefined && flags.namespace === undefined
        ? "no jobs: no repository declares any, or the token may not read their namespaces\n"
        : "no job matches\n",
    );
  await printWarnings(client, io);
}

export async function job(name: string, flags: ClientFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const answer = await client.job(jobFor(name, flags, io));
  if (flags.json) return printJson(io, answer);
  io.out(describeJob(answer, io));
  for (const issue of answer.issues) io.out(`${issue.severity}: ${printable(`${issue.key}: ${issue.message}`)}\n`);
  if (answer.diff !== null) io.out(`\n${diffText(answer.diff as unknown as JobDiff, io.colour.out)}`);
  if (answer.deployments.length > 0) io.out(`\n${deploymentTable(answer.deployments, io)}`);
  await printWarnings(client, io);
}

function describeJob(answer: JobJson, io: CommandIo): string {
  const facts: (readonly [string, string | null])[] = [
    ["Job", `${answer.namespace}/${answer.job}`],
    ["Sync", `${paintState(io.colour.out, answer.sync)}${answer.message === "" ? "" : `: ${printable(answer.message)}`}`],
    ["Policy", answer.policy],
    ["File", answer.file === null ? null : `${answer.file} in ${answer.repository ?? "?"}`],
    ["Commit", answer.commit],
    ["Spec hash", answer.spec_hash],
    ["Health", answer.health],
    ["Hold", answer.hold === null ? null : `${answer.hold.kind}: ${answer.hold.reason}`],
    [
      "Window",
      answer.window === null
        ? null
        : `${answer.window.open ? "open" : "closed"}${answer.window.changes_at === null ? "" : ` until ${answer.window.changes_at}`} (${answer.window.time_zone})`,
    ],
    ["Blocked by", answer.blocked_by],
  ];
  return describeFacts(facts);
}

export async function deployments(flags: ListFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const filter = jobFilterFor(flags, io);
  const answer = await client.deployments({ ...filter, state: flags.state, limit: flags.limit });
  if (answer.deployments.length === 0 && !(await isKnown(filter, client))) throw unknownJob(filter);
  if (flags.json) return printJson(io, answer);
  io.out(deploymentTable(answer.deployments, io));
  if (answer.deployments.length === 0) io.err("no deployment matches\n");
  if (answer.next_cursor !== null) io.err("there are more: raise --limit\n");
}

function deploymentTable(rows: readonly DeploymentJson[], io: CommandIo): string {
  const cells = rows.map((row) => [
    row.id,
    `${row.namespace}/${row.job}`,
    row.state,
    row.policy,
    row.commit_sha.slice(0, 8),
    ago(row.created_at, io.clock.now()),
    row.error ?? row.commit_subject,
  ]);
  return table(["ID", "JOB", "STATE", "POLICY", "COMMIT", "CREATED", "NOTE"], cells, paintColumn(io, 2));
}

export async function deployment(text: string, flags: ClientFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const answer = await client.deployment(await deploymentIdFor(text, client, flags, io));
  if (flags.json) return printJson(io, answer);
  io.out(describeDeployment(answer, io));
  if (answer.diff !== null) io.out(`\n${diffText(answer.diff as unknown as JobDiff, io.colour.out)}`);
  for (const run of answer.hook_runs) {
    io.out(
      `\n${run.phase}-hook ${run.job}: ${paintState(io.colour.out, run.state)}${run.error === null ? "" : `: ${printable(run.error)}`}\n`,
    );
    if (run.state === "unknown" && run.resolution === null)
      io.out(`  settle it with: nops hook resolve ${run.id} ran|did-not-run\n`);
    if (run.log_tail !== null) io.out(`${printable(run.log_tail).replace(/^/gm, "  | ")}\n`);
  }
  io.out(`\n${answer.events.map(eventLine).join("")}`);
}

function describeDeployment(answer: DeploymentDetailJson, io: CommandIo): string {
  const facts: (readonly [string, string | null])[] = [
    ["Deployment", answer.id],
    ["Job", `${answer.namespace}/${answer.job}`],
    ["State", paintState(io.colour.out, answer.state)],
    ["Error", answer.error],
    ["Policy", answer.policy],
    ["Mode", answer.mode === "verify" ? "verify: nothing is registered" : null],
    ["Commit", `${answer.commit_sha.slice(0, 12)} ${answer.commit_subject} (${answer.commit_author})`],
    ["File", `${answer.file} in ${answer.repository}`],
    ["Spec hash", answer.spec_hash],
    ["Hooks", answer.hooks.length === 0 ? null : answer.hooks.map((hook) => `${hook.phase} ${hook.job}`).join(", ")],
    [
      "Approvals",
      answer.approvals.length === 0
        ? null
        : `${answer.approvals.map((approval) => approval.actor).join(", ")} (${answer.approvals_required} needed)`,
    ],
    ["Decided by", answer.decided_by],
    ["Retry of", answer.retry_of],
  ];
  return describeFacts(facts.map(([name, value]) => [name, value === null ? null : printable(value)]));
}

type Filter = ReturnType<typeof jobFilterFor>;

/** Asked only where nothing was found: a job without entries is no mistake, a name that nobody knows is. */
async function isKnown({ job, namespace }: Filter, client: ApiClient): Promise<boolean> {
  return job === undefined || (await client.jobs({ job, namespace })).jobs.length > 0;
}

function unknownJob({ job, namespace }: Filter): CommandError {
  const where = namespace === undefined ? "" : ` in namespace "${namespace}"`;
  return new CommandError(exitCodes.notFound, `no job "${job}"${where}`, "nops jobs lists them all");
}

export async function events(flags: ListFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const filter = jobFilterFor(flags, io);
  const print = (event: EventJson): void => io.out(flags.json ? `${JSON.stringify(event)}\n` : eventLine(event));
  const page = await client.events({ ...filter, limit: flags.limit });
  const isUnknown = page.events.length === 0 && !(await isKnown(filter, client));
  if (!flags.follow) {
    if (isUnknown) throw unknownJob(filter);
    if (flags.json) return printJson(io, page);
    for (const event of page.events.toReversed()) print(event);
    if (page.events.length === 0) io.err("no event matches\n");
    return;
  }
  // It may come with the next commit.
  if (isUnknown) io.err(`warning: ${unknownJob(filter).message} yet\n`);
  for (const event of page.events.toReversed()) print(event);
  const last = page.events[0]?.id;
  for await (const event of client.follow(last)) {
    if (
      (filter.job === undefined || filter.job === event.job) &&
      (filter.namespace === undefined || filter.namespace === event.namespace)
    )
      print(event);
  }
}

function eventLine(event: EventJson): string {
  const job = event.job === null ? "" : ` ${event.namespace}/${event.job}`;
  const move = event.to === null ? "" : ` ${event.from === null || event.from === event.to ? "" : `${event.from} → `}${event.to}`;
  return `${event.time}${job} [${event.kind}]${move} ${event.actor}: ${printable(event.message)}\n`;
}

export async function explain(name: string, flags: ClientFlags, io: CommandIo): Promise<void> {
  const client = clientFor(flags, io);
  const answer = await client.explain(jobFor(name, flags, io));
  if (flags.json) return printJson(io, answer);
  io.out(`${paint(io.colour.out, "bold", printable(answer.summary))}\n\n`);
  const rows = answer.gates.map((gate) => [gate.result, gate.gate, gate.may_change ?? "-", gate.source, gate.fact]);
  io.out(table(["RESULT", "GATE", "MAY CHANGE", "SOURCE", "FACT"], rows, paintColumn(io, 0)));
  await printWarnings(client, io);
}

function paintColumn(io: CommandIo, column: number): (cell: string, index: number) => string {
  return (cell, index) => (index === column ? paintState(io.colour.out, cell.trimEnd(), cell.length) : cell);
}
