/** `nops plan`: what nops would do for a checkout against the cluster. Reads and plans; writes nothing. */
import { resolve } from "node:path";
import type { DesiredJob } from "../../model/desired.ts";
import { messageOf } from "../../model/errors.ts";
import { splitJobKey } from "../../model/job-key.ts";
import type { JobDiff } from "../../model/nomad.ts";
import { Redactor } from "../../model/redact.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";
import { blindSpotsDiffer, judgeDrift } from "../../plan/drift.ts";
import { explainPlacement } from "../../plan/placement.ts";
import { hasScaling, substituteCounts } from "../../plan/scaling.ts";
import { openCommit } from "../checkout/commit.ts";
import { plainNomadOptions } from "../checkout/nomad.ts";
import { defaultRules, readContent, rulesOf, understand } from "../checkout/read.ts";
import { configFromFlags } from "../config/from-flags.ts";
import { diffText } from "../diff-text.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { nomadOptions } from "../operator/nomad-options.ts";
import { paintState, printable, printJson } from "../output.ts";

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
    const { store, root, commit } = await openCommit(resolve(io.workingDirectory, path ?? "."), flags.ref ?? "HEAD");
    const files = await readContent(store, root, rules, io);
    const { index, entries } = await understand(files, rules, client, commit);
    const redactor = new Redactor();
    const planned: Planned[] = [];
    for (const job of index.managed()) planned.push(await planJob(job, client, redactor));
    const broken = [
      ...files.broken.map((issue) => ({ file: issue.file, message: issue.message })),
      ...entries.flatMap((entry) => (entry.kind === "unusable" ? [{ file: entry.path, message: entry.message }] : [])),
    ];
    print(planned, broken, commit.sha, format, io);
    const errors = broken.length + planned.filter((entry) => entry.action === "error").length;
    if (errors > 0) throw new CommandError(exitCodes.failed, `${errors} job file${errors === 1 ? "" : "s"} cannot be deployed`);
  } finally {
    client.close();
  }
}

async function planJob(job: DesiredJob, client: NomadClient, redactor: Redactor): Promise<Planned> {
  const { namespace, jobId } = splitJobKey(job.key);
  const base = { namespace, job: jobId, file: job.file, policy: job.policy, placement: "" };
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
    return { ...base, ...verdictOf(drift, job), diff, placement: explainPlacement(result.failedPlacements) };
  } catch (error) {
    return { ...base, action: "error", message: redactor.text(messageOf(error)), diff: null };
  }
}

function verdictOf(drift: ReturnType<typeof judgeDrift>, job: DesiredJob): Pick<Planned, "action" | "message"> {
  if (drift === "none") return { action: "nothing", message: "in sync" };
  if (drift === "own_keys")
    return { action: "nothing", message: "only nops_* keys differ; they ride along with the next change" };
  switch (job.policy) {
    case "auto":
      return { action: "deploy", message: "would be deployed" };
    case "approval":
      return { action: "ask", message: "would wait for approval" };
    case "none":
      return { action: "show", message: "differs; the policy is none" };
  }
}

interface BrokenFile {
  readonly file: string;
  readonly message: string;
}

function print(planned: readonly Planned[], broken: readonly BrokenFile[], sha: string, format: string, io: CommandIo): void {
  if (format === "json") printJson(io, { commit: sha, jobs: planned, broken });
  else io.out(format === "markdown" ? markdown(planned, broken, sha) : text(planned, broken, sha, io));
}

function text(planned: readonly Planned[], broken: readonly BrokenFile[], sha: string, io: CommandIo): string {
  const parts = planned.map((entry) => {
    const head = `${paintState(io.colour.out, entry.action)} ${entry.namespace}/${entry.job} (${entry.file}): ${printable(entry.message)}\n`;
    return (
      head +
      (entry.diff === null ? "" : diffText(entry.diff, io.colour.out)) +
      (entry.placement === "" ? "" : `  would not be placed now: ${printable(entry.placement)}\n`)
    );
  });
  return `commit ${sha}\n\n${parts.join("\n")}${broken.map(({ file, message }) => `error ${printable(file)}: ${printable(message)}\n`).join("")}`;
}

/** For a merge request's comment; fences are longer than any run of backticks inside, so that content cannot leave them. */
function markdown(planned: readonly Planned[], broken: readonly BrokenFile[], sha: string): string {
  const rows = planned.map(
    (entry) => `| ${cell(`${entry.namespace}/${entry.job}`)} | ${entry.action} | ${cell(entry.message)} |`,
  );
  const diffs = planned.flatMap((entry) => {
    if (entry.diff === null) return [];
    const body = diffText(entry.diff, false);
    const fence = "`".repeat(Math.max(3, ...[...body.matchAll(/`+/g)].map(([run]) => run.length + 1)));
    return [
      `\n<details><summary>${cell(`${entry.namespace}/${entry.job}`)}</summary>\n\n${fence}diff\n${body}${fence}\n\n</details>\n`,
    ];
  });
  const problems = broken.map(({ file, message }) => `- ${cell(file)}: ${cell(message)}\n`).join("");
  return `### nops plan for \`${sha.slice(0, 12)}\`\n\n| job | action | |\n|---|---|---|\n${rows.join("\n")}\n${problems === "" ? "" : `\n**Broken files**\n\n${problems}`}${diffs.join("")}`;
}

function cell(value: string): string {
  return printable(value)
    .replace(/[\\`|<>*_[\]]/g, "\\$&")
    .replaceAll("\n", " ");
}
