/**
 * How long it takes from asking the operator to fetch until Nomad has accepted the register of the one job that the commit changed,
 * against the bare limit of the same run: git, parse, plan and register called one after another, with nothing between them. The bound
 * is twice the bare limit and 20 ms. Nomad is a simulator in a process of its own.
 */
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import git from "isomorphic-git";
import { systemClock, systemRandom } from "../../cmd/system-clock.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";
import { type LiveOperator, startLiveOperator } from "../../testkit/live-operator.ts";
import { startNopsProcess } from "../../testkit/nops-process.ts";
import { createTempRepository, type TempRepository } from "../../testkit/temp-git.ts";

export interface CommitFigure {
  readonly jobs: number;
  /** Median milliseconds of git, parse, plan and register. */
  readonly bareMs: number;
  /** Median milliseconds from the request to the register. */
  readonly operatorMs: number;
  readonly ratio: number;
  /** Milliseconds: twice the bare limit and 20. */
  readonly boundMs: number;
}

const jobs = 100;
const warmUps = 5;
const rounds = 25;
const patienceMs = 60_000;

function jobFile(name: string, round: number): string {
  return `job "${name}" {
  meta {
    nops_managed = "true"
    nops_policy  = "auto"
  }
  group "main" {
    count = 0
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["${round}"]
      }
    }
  }
}
`;
}

const path = (name: string): string => `jobs/${name}.nomad.hcl`;
const all = (prefix: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: jobs }, (_, index) => [path(`${prefix}-${index}`), jobFile(`${prefix}-${index}`, 0)]));

/** @param nomad address of a Nomad that may be filled with jobs; default: a simulator of its own. */
export async function benchCommitToRegister(nomad?: string): Promise<CommitFigure> {
  const simulator = nomad === undefined ? startNopsProcess(["dev", "--port", "0"]) : undefined;
  const address = nomad ?? (await simulator?.printed(/NOMAD_ADDR=(\S+)/))?.[1] ?? "";
  const client = createNomadClient({ address, clock: systemClock, random: systemRandom });
  const bareRepository = await createTempRepository();
  const operator = await startLiveOperator({ nomad: address, files: all("operated") });
  try {
    await bareRepository.commit({ files: all("bare") });
    await operator.until<{ jobs: readonly { sync: string }[] }>(
      "/api/v1/jobs",
      (answer) => answer.jobs.length === jobs && answer.jobs.every(({ sync }) => sync === "sync"),
      300_000,
    );
    const bare: number[] = [];
    const operated: number[] = [];
    for (let round = 1; round <= warmUps + rounds; round++) {
      bare.push(await bareRound(bareRepository, client, round));
      operated.push(await operatorRound(operator, client, round));
    }
    const [bareMs, operatorMs] = [median(bare.slice(warmUps)), median(operated.slice(warmUps))];
    return { jobs, bareMs, operatorMs, ratio: operatorMs / bareMs, boundMs: 2 * bareMs + 20 };
  } finally {
    await operator.stop();
    await bareRepository.remove();
    client.close();
    simulator?.kill("SIGTERM");
    await simulator?.finished;
  }
}

/** Reads the commit and the changed file, and asks Nomad three things. */
async function bareRound(repository: TempRepository, client: NomadClient, round: number): Promise<number> {
  const name = `bare-${round % jobs}`;
  await repository.commit({ files: { [path(name)]: jobFile(name, round) } });
  const live = await client.readJob(keyOf(name));
  const started = performance.now();
  const { gitdir } = repository;
  const oid = await git.resolveRef({ fs, gitdir, ref: "refs/heads/main" });
  const { blob } = await git.readBlob({ fs, gitdir, oid, filepath: path(name) });
  const source = Buffer.from(blob).toString("utf8");
  const spec = await client.parse({ format: "hcl2", source, variables: "" }, "default");
  await client.plan(spec);
  await client.register(spec, live?.JobModifyIndex ?? 0, { source, format: "hcl2", variables: "" });
  return performance.now() - started;
}

async function operatorRound(operator: LiveOperator, client: NomadClient, round: number): Promise<number> {
  const name = `operated-${round % jobs}`;
  const key = keyOf(name);
  const commit = await operator.repository.commit({ files: { [path(name)]: jobFile(name, round) } });
  const { index } = await client.blockOnJob(key, { index: 0, waitMs: patienceMs });
  const changed = client.blockOnJob(key, { index, waitMs: patienceMs });
  const started = performance.now();
  const asked = operator.post("/api/v1/fetch");
  await changed;
  const took = performance.now() - started;
  await asked;
  await operator.until<{ commit: string; sync: string }>(
    `/api/v1/jobs/default/${name}`,
    (job) => job.commit === commit && job.sync === "sync",
  );
  return took;
}

function keyOf(name: string): JobKey {
  return jobKey("default", name);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figure = await benchCommitToRegister(process.env["NOMAD_ADDR"]);
  console.log(JSON.stringify(figure, null, 2));
  if (figure.operatorMs > figure.boundMs) process.exitCode = 1;
}
