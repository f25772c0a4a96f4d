/** `nops doctor`: a preflight. Each line is ok, warn or fail with its cure; exit 1 on a fail (reliability §5). */

import { configFromFlags } from "../config/from-flags.ts";
import type { Config } from "../config/schema.ts";
import { checkFiles } from "../doctor/files.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkLogins } from "../doctor/logins.ts";
import { checkNomad } from "../doctor/nomad.ts";
import { checkRepositories } from "../doctor/repositories.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { paintState, plural, printable, printJson } from "../output.ts";
import { systemClock } from "../system-clock.ts";

export interface DoctorFlags {
  readonly config?: string;
  readonly json?: boolean;
}

export async function doctor(flags: DoctorFlags, io: CommandIo): Promise<void> {
  const config = configFromFlags(flags as Readonly<Record<string, unknown>>, io);
  const findings: Finding[] = [];
  for (const check of [environment, checkFiles, checkLogins, checkNomad, checkRepositories]) {
    const found = await check(config, io);
    findings.push(...found);
    if (!flags.json) for (const finding of found) io.out(line(finding, io));
  }
  if (flags.json) printJson(io, { findings });
  const fails = findings.filter((finding) => finding.level === "fail").length;
  if (fails > 0) throw new CommandError(exitCodes.failed, `${plural(fails, "check")} failed`);
}

function line({ level, check, message, cure }: Finding, io: CommandIo): string {
  return `${paintState(io.colour.out, level, 4)} ${check}: ${printable(message)}\n${cure === undefined ? "" : `     cure: ${printable(cure)}\n`}`;
}

/** What the process itself was started with. */
async function environment(_config: Config, io: CommandIo): Promise<readonly Finding[]> {
  const insecure = io.environment["NODE_TLS_REJECT_UNAUTHORIZED"] === "0";
  return [
    insecure
      ? {
          level: "fail",
          check: "tls",
          message: "NODE_TLS_REJECT_UNAUTHORIZED=0 switches off every certificate check",
          cure: "unset it and name the authority in nomad.ca_cert",
        }
      : {
          level: "ok",
          check: "runtime",
          message: `Node ${process.versions.node}, clock ${new Date(systemClock.now()).toISOString()}`,
        },
  ];
}
