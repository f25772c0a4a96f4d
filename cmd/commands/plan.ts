/** `nops plan`: what nops would do for a checkout against the cluster. Reads and plans; writes nothing. */
import { resolve } from "node:path";
import type { DesiredIndex } from "../../controllers/desired-index.ts";
import type { DesiredJob } from "../../model/desired.ts";
import { messageOf } from "../../model/errors.ts";
import { jobKey, splitJobKey } from "../../model/job-key.ts";
import type { JobDiff } from "../../model/nomad.ts";
import { placed, withPlace } from "../../model/place.ts";
import { Redactor } from "../../model/redact.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";
import { blindSpotsDiffer, judgeDrift } from "../../plan/drift.ts";
import { windowHold, windowOf } from "../../plan/holds.ts";
import { explainPlacement } from "../../plan/placement.ts";
import { hasScaling, substituteCounts } from "../../plan/scaling.ts";
import { openCommit } from "../checkout/commit.ts";
import { plainNomadOptions, withoutNomad } from "../checkout/nomad.ts";
import { defaultRules, readContent, rulesOf, understand } from "../checkout/read.ts";
import { uncommittedFiles } from "../checkout/uncommitted.ts";
import { configFromFlags } from "../config/from-flags.ts";
import { diffText } from "../diff-text.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { nomadOptions } from "../operator/nomad-options.ts";
import { paintState, plural, printable, printJson } from "../output.ts";

export interface PlanFlags {
  readonly ref?: string;
  readonly format: string;
  readonly json?: boolean;
  readonly config?: string;
}

interface Planned {
  readonly namespace: string;
  readonly job: string;
  readonly file: string;
  readonly policy: string;
  readonly action: "deploy" | "ask" | "show" | "nothing" | "error";
  readonly message: string;
  /** Redacted. */
  readonly diff: JobDiff | null;
  readonly placement: string;
  /** What runs around the job when it is deployed. */
  readonly hooks: readonly PlannedHook[];
}

interface PlannedHook {
  readonly phase: "pre" | "post";
  readonly job: string;
  readonly usable: boolean;
}

/** Everything that is printed. */
interface Report {
  readonly commit: string;
  readonly jobs: readonly Planned[];
  readonly broken: readonly BrokenFile[];
  /** Live jobs with the mark of nops that the commit does not have. */
  readonly orphans: readonly { readonly namespace: string; readonly job: string }[];
  /** Files whose edits are not in the commit. */
  readonly uncommitted: readonly string[];
}

/** Exit 1 when a file is broken or Nomad refuses a job. */
export async function plan(path: string | undefined, flags: PlanFlags, io: CommandIo): Promise<void> {
  const format = flags.json ? "json" : flags.format;
  if (!["text", "markdown", "json"].includes(format))
    throw new CommandError(exitCodes.usage, `--format: "${format}" is not text, markdown or json`);
  const config = flags.config === undefined ? undefined : configFromFlags({ config: flags.config }, io);
  const rules = config === undefined ? defaultRules : rulesOf(config);
  const client = createNomadClient(config === undefined ? plainNomadOptions(io) : nomadOptions(config, io));
  try {
    const folder = resolve(io.workingDirectory, path ?? ".");
    const content = await openCommit(folder, flags.ref ?? "HEAD");
    const files = await readContent(content.store, content.root, rules, io);
    const { index, entries } = await understand(files, rules, client, content.commit).catch(withoutNomad);
    const redactor = new Redactor();
    const planned: Planned[] = [];
    for (const job of index.managed()) planned.push(await planJob(job, client, redactor, io.clock.now()));
    const broken = [
      ...files.broken.map(({ file, line, message }) => ({ file, line: line ?? null, message })),
      ...entries.flatMap((entry) => (entry.kind === "unusable" ? [brokenFile(entry.path, entry.message)] : [])),
    ];
    const orphans = await orphansOf(index, rules.namespaces, client);
    const uncommitted = flags.ref === undefined ? await uncommittedFiles(folder, content, rules) : [];
    print({ commit: content.commit.sha, jobs: planned, broken, orphans, uncommitted }, format, io);
    const errors = broken.length + planned.filter((entry) => entry.action === "error").length;
    if (errors > 0) throw new CommandError(exitCodes.failed, `${plural(errors, "job file")} cannot be deployed`);
  } finally {
    client.close();
  }
}

function brokenFile(file: string, text: string): BrokenFile {
  const { line = null, message } = placed(file, text);
  return { file, line, message };
}

/** The operator knows orphans by its database; from outside they are known by the key that makes nops manage a job. */
async function orphansOf(index: DesiredIndex, namespaces: readonly string[], client: NomadClient): Promise<Report["orphans"]> {
  const own = index.managed().map(({ key }) => splitJobKey(key).namespace);
  const found: { namespace: string; job: string }[] = [];
  for (const namespace of new Set([...namespaces, ...own])) {
    const { jobs } = await client.listJobs(namespace, { meta: true });
    for (const { ID: job, Meta, ParentID, Stop, Status } of jobs) {
      const isOurs = Meta?.["nops_managed"] === "true" && Meta["nops_role"] !== "hook" && ParentID === "";
      const runs = !Stop && Status !== "dead";
      const state = index.state(jobKey(namespace, job));
      if (isOurs && runs && state.kind === "absent" && state.certain) found.push({ namespace, job });
    }
  }
  return found;
}

async function planJob(job: DesiredJob, client: NomadClient, redactor: Redactor, now: number): Promise<Planned> {
  const { namespace, jobId } = splitJobKey(job.key);
  const hooks = job.hooks.map(({ phase, hookId, usable }) => ({ phase, job: hookId, usable }));
  const base = { namespace, job: jobId, file: job.file, policy: job.policy, placement: "", hooks };
  redactor.learn(job.key, job.spec);
  try {
    const live = await client.readJob(job.key);
    if (live !== undefined) redactor.learn(`live ${job.key}`, live);
    const result = await client.plan(hasScaling(job.spec) ? substituteCounts(job.spec, live) : job.spec);
    const blind = result.diff.Type === "None" && live !== undefined && blindSpotsDiffer(job.spec, live);
    const drift = judgeDrift(result.diff, blind);
    const missing = job.hooks.filter((hook) => !hook.usable).map((hook) => `${hook.phase}-hook ${hook.hookId}`);
    const diff = drift === "none" ? null : redactor.diff(result.diff);
    if (missing.length > 0) return { ...base, action: "error", message: `cannot be used: ${missing.join(", ")}`, diff };
    return { ...base, ...verdictOf(drift, job, now), diff, placement: explainPlacement(result.failedPlacements) };
  } catch (error) {
    return { ...base, action: "error", message: redactor.text(messageOf(error)), diff: null };
  }
}

function verdictOf(drift: ReturnType<typeof judgeDrift>, job: DesiredJob, now: number): Pick<Planned, "action" | "message"> {
  if (drift === "none") return { action: "nothing", message: "in sync" };
  if (drift === "own_keys")
    return { action: "nothing", message: "only nops_* keys differ; they ride along with the next change" };
  switch (job.policy) {
    case "auto": {
      const hold = windowHold(windowOf(job.settings, job.policy, now), false);
      return { action: "deploy", message: hold === undefined ? "would be deployed" : `would be held: ${hold.message}` };
    }
    case "approval":
      return { action: "ask", message: "would wait for approval" };
    case "none":
      return { action: "show", message: "differs; the policy is none" };
  }
}

interface BrokenFile {
  readonly file: string;
  readonly line: number | null;
  readonly message: string;
}

function print(report: Report, format: string, io: CommandIo): void {
  if (report.uncommitted.length > 0)
    io.err(`warning: not in the commit, so not in this plan: ${printable(report.uncommitted.join(", "))}\n`);
  if (format === "json") printJson(io, report);
  else io.out(format === "markdown" ? markdown(report) : text(report, io));
}

/** `pre-hook migrate, post-hook smoke`; empty without hooks or when nothing would be deployed. */
function hookWords({ hooks, action }: Planned): string {
  if (action === "nothing" || action === "show") return "";
  return hooks.map(({ phase, job, usable }) => `${phase}-hook ${job}${usable ? "" : " (cannot be used)"}`).join(", ");
}

const orphanWords = "is managed by nops and not in the commit; it goes on running, nops stops nothing";

function text({ commit, jobs, broken, orphans }: Report, io: CommandIo): string {
  const parts = jobs.map((entry) => {
    const head = `${paintState(io.colour.out, entry.action)} ${entry.namespace}/${entry.job} (${entry.file}): ${printable(entry.message)}\n`;
    const hooks = hookWords(entry);
    return (
      head +
      (hooks === "" ? "" : `  with ${printable(hooks)}\n`) +
      (entry.diff === null ? "" : diffText(entry.diff, io.colour.out)) +
      (entry.placement === "" ? "" : `  would not be placed now: ${printable(entry.placement)}\n`)
    );
  });
  const left = orphans.map(
    ({ namespace, job }) => `${paintState(io.colour.out, "orphan")} ${printable(`${namespace}/${job}`)} ${orphanWords}\n`,
  );
  const wrong = broken.map(
    ({ file, line, message }) =>
      `${paintState(io.colour.out, "error")} ${printable(withPlace(file, message, line ?? undefined))}\n`,
  );
  const blocks = [...parts, left.join(""), wrong.join("")].filter((block) => block !== "");
  return `commit ${commit}\n\n${blocks.join("\n")}`;
}

/** For a merge request's comment; fences are longer than any run of backticks inside, so that content cannot leave them. */
function markdown({ commit, jobs, broken, orphans }: Report): string {
  const rows = jobs.map((entry) => {
    const hooks = hookWords(entry);
    const message = `${entry.message}${hooks === "" ? "" : ` (${hooks})`}`;
    return `| ${cell(`${entry.namespace}/${entry.job}`)} | ${entry.action} | ${cell(message)} |`;
  });
  const left = orphans.map(({ namespace, job }) => `| ${cell(`${namespace}/${job}`)} | orphan | ${cell(orphanWords)} |`);
  const diffs = jobs.flatMap((entry) => {
    if (entry.diff === null) return [];
    const body = diffText(entry.diff, false);
    const fence = "`".repeat(Math.max(3, ...[...body.matchAll(/`+/g)].map(([run]) => run.length + 1)));
    return [
      `\n<details><summary>${cell(`${entry.namespace}/${entry.job}`)}</summary>\n\n${fence}diff\n${body}${fence}\n\n</details>\n`,
    ];
  });
  const problems = broken.map(({ file, line, message }) => `- ${cell(withPlace(file, message, line ?? undefined))}\n`).join("");
  return `### nops plan for \`${commit.slice(0, 12)}\`\n\n| job | action | |\n|---|---|---|\n${[...rows, ...left].join("\n")}\n${problems === "" ? "" : `\n**Broken files**\n\n${problems}`}${diffs.join("")}`;
}

function cell(value: string): string {
  return printable(value)
    .replace(/[\\`|<>*_[\]]/g, "\\$&")
    .replaceAll("\n", " ");
}
