/** `nops check`: every rule of a checkout, before it is pushed. Exit 1 with file:line for each error. */
import { join } from "node:path";
import { toInstant } from "../../model/clock.ts";
import { type DesiredState, metaLineOf } from "../../model/desired.ts";
import type { JobKey } from "../../model/job-key.ts";
import { placed } from "../../model/place.ts";
import { createNomadClient } from "../../nomad/client.ts";
import { plainNomadOptions, withoutNomad } from "../checkout/nomad.ts";
import { offlineParser } from "../checkout/parsers.ts";
import { defaultRules, readFolder, rulesOf, type Understood, understand } from "../checkout/read.ts";
import { configFromFlags } from "../config/from-flags.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { nomadOptions } from "../operator/nomad-options.ts";
import { paintState, plural, printable, printJson } from "../output.ts";

export interface CheckFlags {
  readonly offline?: boolean;
  readonly config?: string;
  readonly json?: boolean;
}

interface Problem {
  readonly severity: "warn" | "error";
  readonly file: string;
  readonly line: number | null;
  readonly message: string;
}

export async function check(paths: readonly string[], flags: CheckFlags, io: CommandIo): Promise<void> {
  const config = flags.config === undefined ? undefined : configFromFlags({ config: flags.config }, io);
  const rules = config === undefined ? defaultRules : rulesOf(config);
  const client = flags.offline
    ? undefined
    : createNomadClient(config === undefined ? plainNomadOptions(io) : nomadOptions(config, io));
  try {
    const nomad = client ?? (await offlineParser());
    const problems: Problem[] = [];
    let files = 0;
    for (const path of paths.length === 0 ? ["."] : paths) {
      const read = await readFolder(path, rules, io);
      files += read.files.length;
      if (read.files.length + read.broken.length === 0) io.err(`warning: ${printable(path)} holds no job file\n`);
      const issues = [...read.warnings, ...read.broken, ...read.files.flatMap((file) => file.issues)].map((issue) => ({
        severity: issue.severity,
        file: issue.file,
        line: issue.line ?? null,
        message: issue.message,
      }));
      const understood = await understand(read, rules, nomad, uncommitted(io)).catch(withoutNomad);
      // As seen from the working directory, so that whoever reads it can open it.
      for (const problem of [...issues, ...jobProblems(understood)])
        problems.push({ ...problem, file: join(read.folder, problem.file) });
    }
    report(problems, files, flags, io);
  } finally {
    client?.close();
  }
}

/** A checkout has no commit yet. */
function uncommitted(io: CommandIo) {
  return { sha: "0".repeat(40), subject: "working tree", author: "", authorEmail: "", committedAt: toInstant(io.clock.now()) };
}

/** What is wrong with jobs beyond their syntax: refused by Nomad, meta keys, hooks, duplicates, dependencies. */
function jobProblems({ index, entries }: Understood): Problem[] {
  const problems: Problem[] = [];
  const frozenSeen = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "unusable") {
      const { line = null, message } = placed(entry.path, entry.message);
      problems.push({ severity: "error", file: entry.path, line, message });
      frozenSeen.add(entry.path);
      continue;
    }
    const lineOf = (key: string): number | null => metaLineOf(entry.file, key) ?? null;
    for (const issue of entry.settings.issues)
      problems.push({
        severity: issue.severity,
        file: entry.file.path,
        line: lineOf(issue.key),
        message: `${issue.key}: ${issue.message}`,
      });
    problems.push(...stateProblems(index.state(entry.key), entry.file.path, lineOf));
    problems.push(...cycleProblem(index.cycle(entry.key), entry.file.path, lineOf));
  }
  return problems;
}

function stateProblems(state: DesiredState, file: string, lineOf: (key: string) => number | null): Problem[] {
  if (state.kind === "frozen") return [{ severity: "error", file, line: null, message: state.frozen.message }];
  if (state.kind !== "managed") return [];
  return state.job.hooks.flatMap((hook) =>
    hook.usable
      ? []
      : [
          {
            severity: "error" as const,
            file,
            line: lineOf(`nops_${hook.phase}_hook`),
            message: `${hook.phase}-hook ${hook.hookId} is ${hook.problem}: ${hook.detail}`,
          },
        ],
  );
}

function cycleProblem(cycle: readonly JobKey[] | undefined, file: string, lineOf: (key: string) => number | null): Problem[] {
  return cycle === undefined
    ? []
    : [
        {
          severity: "error",
          file,
          line: lineOf("nops_depends_on"),
          message: `its dependencies form a cycle: ${cycle.join(" → ")}`,
        },
      ];
}

function report(problems: readonly Problem[], files: number, flags: CheckFlags, io: CommandIo): void {
  const distinct = [
    ...new Map(problems.map((problem) => [`${problem.file}:${problem.line}:${problem.message}`, problem])).values(),
  ];
  const errors = distinct.filter((problem) => problem.severity === "error").length;
  if (flags.json) printJson(io, { files, problems: distinct });
  else {
    for (const { severity, file, line, message } of distinct) {
      io.out(
        `${printable(file)}${line === null ? "" : `:${line}`}: ${paintState(io.colour.out, severity)}: ${printable(message)}\n`,
      );
    }
    io.err(`${plural(files, "job file")}, ${plural(errors, "error")}, ${plural(distinct.length - errors, "warning")}\n`);
  }
  if (errors > 0) throw new CommandError(exitCodes.failed, "");
}
