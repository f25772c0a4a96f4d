/** `nops serve` as a process over a folder, a repository and a Nomad, with everything that goes away at the end. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeploymentJson } from "../api/contract.ts";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator, type Simulator } from "../simulator/server.ts";
import { type Finished, type NopsProcess, runNops, startNopsProcess } from "./nops-process.ts";
import { createTempRepository, type TempRepository } from "./temp-git.ts";

const token = "served-nops-token";
const patienceMs = 60_000;

/** What one process answers. */
export interface ServedNops {
  readonly address: string;
  readonly process: NopsProcess;
  get<T>(path: string): Promise<T>;
  /** Status of any request, without a judgement. */
  status(method: string, path: string, body?: unknown): Promise<number>;
  /** Asks until the answer satisfies. @throws after a minute. */
  until<T>(path: string, satisfied: (answer: T) => boolean): Promise<T>;
  /** The job's newest deployment, once it satisfies. */
  untilDeployment(job: string, satisfied: (deployment: DeploymentJson) => boolean): Promise<DeploymentJson>;
  /** Runs `nops …` against it. */
  cli(...args: readonly string[]): Promise<Finished>;
  /** Ends it as SIGTERM does. @throws when it did not end well. */
  stop(): Promise<void>;
}

/** A place for processes: one folder, one repository, one simulated Nomad. */
export interface ServingPlace {
  readonly folder: string;
  readonly repository: TempRepository;
  readonly simulator: Simulator;
  readonly nomad: string;
  serve(dataDir: string, ...flags: readonly string[]): Promise<ServedNops>;
  /** Kills what still runs and removes everything. */
  close(): Promise<void>;
}

export async function servingPlace(): Promise<ServingPlace> {
  const folder = mkdtempSync(join(tmpdir(), "nops-served-"));
  writeFileSync(join(folder, "token"), token, { mode: 0o600 });
  const repository = await createTempRepository();
  const simulator = createSimulator({ clock: systemClock });
  const listening = await simulator.listen(0);
  const running: NopsProcess[] = [];
  return {
    folder,
    repository,
    simulator,
    nomad: listening.address,
    serve: async (dataDir, ...flags) => {
      const usual = [
        `--data-dir=${dataDir}`,
        `--nomad-address=${listening.address}`,
        `--git-url=${repository.dir}`,
        "--git-poll-interval=1s",
        "--http-listen=127.0.0.1:0",
        `--auth-bootstrap-token-file=${join(folder, "token")}`,
      ];
      const nops = startNopsProcess(["serve", ...usual, ...flags], { cwd: folder });
      running.push(nops);
      return served(nops, (await nops.printed(/"address":"(http:[^"]+)".*\n/))[1] ?? "");
    },
    close: async () => {
      for (const nops of running) {
        nops.kill("SIGKILL");
        await nops.finished;
      }
      await listening.close();
      await repository.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function served(nops: NopsProcess, address: string): ServedNops {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const get = async <T>(path: string): Promise<T> => (await (await fetch(`${address}${path}`, { headers })).json()) as T;
  const until = async <T>(path: string, satisfied: (answer: T) => boolean): Promise<T> => {
    const deadline = systemClock.now() + patienceMs;
    for (;;) {
      const answer = await get<T>(path);
      if (satisfied(answer)) return answer;
      if (systemClock.now() > deadline) throw new Error(`${path} stayed ${JSON.stringify(answer).slice(0, 2_000)}`);
      await systemClock.sleep(50);
    }
  };
  return {
    address,
    process: nops,
    get,
    until,
    status: async (method, path, body) =>
      (await fetch(`${address}${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) })).status,
    untilDeployment: async (job, satisfied) => {
      const { deployments } = await until<{ deployments: DeploymentJson[] }>(
        `/api/v1/deployments?job=${job}&limit=1`,
        ({ deployments: [newest] }) => newest !== undefined && satisfied(newest),
      );
      return deployments[0] as DeploymentJson;
    },
    cli: (...args) => runNops(args, { env: { NOPS_ADDR: address, NOPS_TOKEN: token } }),
    stop: async () => {
      nops.kill("SIGTERM");
      const { code, stderr } = await nops.finished;
      if (code !== 0) throw new Error(`nops ended with ${code}: ${stderr}`);
    },
  };
}
