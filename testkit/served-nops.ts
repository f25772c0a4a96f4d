/** `nops serve` as a process over a folder, a repository and a Nomad, with everything that goes away at the end. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeploymentJson } from "../api/contract.ts";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../simulator/server.ts";
import { type Finished, type NopsProcess, runNops, startNopsProcess } from "./nops-process.ts";
import { createTempRepository, type TempRepository } from "./temp-git.ts";

const token = "served-nops-token";
const patienceMs = 60_000;

/** What one process answers. */
export interface ServedNops {
  readonly address: string;
  readonly process: NopsProcess;
  get<T>(path: string): Promise<T>;
  /** Answer to a request that has to succeed. @throws with status and text when it does not. */
  post<T>(path: string, body?: unknown, secret?: string): Promise<T>;
  /** Status of any request, without a judgement. */
  status(method: string, path: string, body?: unknown): Promise<number>;
  /** Status and code of a request that is to be refused. */
  refusal(path: string, body?: unknown, secret?: string): Promise<{ readonly status: number; readonly code: string }>;
  /** Asks until the answer satisfies. @throws after a minute. */
  until<T>(path: string, satisfied: (answer: T) => boolean): Promise<T>;
  /** The job's newest deployment, once it satisfies. */
  untilDeployment(job: string, satisfied: (deployment: DeploymentJson) => boolean): Promise<DeploymentJson>;
  /** Runs `nops …` against it. */
  cli(...args: readonly string[]): Promise<Finished>;
  /** Ends it as SIGTERM does. @throws when it did not end well. */
  stop(): Promise<void>;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
}

export interface ServeOptions {
  /** Another address of Nomad, such as a door before it. */
  readonly nomad?: string;
  /** How far its clock is ahead of everybody else's: it was started so much later. */
  readonly laterMs?: number;
}

/** A place for processes: one folder, one repository, one simulated Nomad. */
export interface ServingPlace {
  readonly folder: string;
  readonly repository: TempRepository;
  readonly simulator: Simulator;
  readonly nomad: string;
  serve(dataDir: string, ...flags: readonly string[]): Promise<ServedNops>;
  serveWith(options: ServeOptions, dataDir: string, ...flags: readonly string[]): Promise<ServedNops>;
  /** Kills what still runs and removes everything. */
  close(): Promise<void>;
}

export async function servingPlace(options: Pick<SimulatorOptions, "nodes"> = {}): Promise<ServingPlace> {
  const folder = mkdtempSync(join(tmpdir(), "nops-served-"));
  writeFileSync(join(folder, "token"), token, { mode: 0o600 });
  const repository = await createTempRepository();
  const simulator = createSimulator({ ...options, clock: systemClock });
  const listening = await simulator.listen(0);
  const running: NopsProcess[] = [];
  const serveWith: ServingPlace["serveWith"] = async ({ nomad = listening.address, laterMs = 0 }, dataDir, ...flags) => {
    const usual = [
      `--data-dir=${dataDir}`,
      `--nomad-address=${nomad}`,
      `--git-url=${repository.dir}`,
      "--git-poll-interval=1s",
      "--http-listen=127.0.0.1:0",
      `--auth-bootstrap-token-file=${join(folder, "token")}`,
    ];
    const env = laterMs === 0 ? {} : { NODE_OPTIONS: clockAhead(laterMs) };
    const nops = startNopsProcess(["serve", ...usual, ...flags], { cwd: folder, env });
    running.push(nops);
    return served(nops, (await nops.printed(/"address":"(http:[^"]+)".*\n/))[1] ?? "");
  };
  return {
    folder,
    repository,
    simulator,
    nomad: listening.address,
    serve: (dataDir, ...flags) => serveWith({}, dataDir, ...flags),
    serveWith,
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

/** Options of Node that move the one clock which the program reads. */
function clockAhead(ms: number): string {
  return `--import=data:text/javascript,${encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${ms};`)}`;
}

function served(nops: NopsProcess, address: string): ServedNops {
  const headersOf = (secret: string) => ({ authorization: `Bearer ${secret}`, "content-type": "application/json" });
  const send = (method: string, path: string, body: unknown, secret = token): Promise<Response> =>
    fetch(`${address}${path}`, {
      method,
      headers: headersOf(secret),
      body: body === undefined ? null : JSON.stringify(body),
    });
  const get = async <T>(path: string): Promise<T> => (await (await send("GET", path, undefined)).json()) as T;
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
    post: async <T>(path: string, body: unknown = {}, secret?: string): Promise<T> => {
      const response = await send("POST", path, body, secret);
      const text = await response.text();
      if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as T;
    },
    status: async (method, path, body) => (await send(method, path, body)).status,
    refusal: async (path, body = {}, secret) => {
      const response = await send("POST", path, body, secret);
      const answer = (await response.json()) as { error?: { code: string } };
      return { status: response.status, code: answer.error?.code ?? "" };
    },
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
    kill: async () => {
      nops.kill("SIGKILL");
      const { signal, stderr } = await nops.finished;
      if (signal !== "SIGKILL") throw new Error(`nops ended by itself: ${stderr}`);
    },
  };
}
