/** `nops demo`: everything at once in a temporary folder, to be looked at and played with. */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import git from "isomorphic-git";
import { messageOf } from "../../model/errors.ts";
import { createSimulator } from "../../simulator/server.ts";
import { loadConfig } from "../config/load.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { createTelemetry, startNops } from "../wire.ts";
import { whole } from "./dev.ts";

export interface DemoFlags {
  readonly port: string;
  readonly keep?: boolean;
  readonly devAgent?: boolean;
}

/** Runs until it is interrupted, then removes its folder unless `--keep`. */
export async function demo(flags: DemoFlags, io: CommandIo): Promise<void> {
  const port = whole(flags.port, "--port", 0, 65_535);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "nops-demo-")));
  const undo: (() => Promise<void> | void)[] = [];
  if (!flags.keep) undo.push(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const repository = await createRepository(folder);
    const nomad = await chooseNomad(flags, io, folder, undo);
    const tokenFile = writeToken(folder, io);
    const nops = await startOperator({ folder, repository, tokenFile, nomadAddress: nomad.address, port }, io);
    undo.push(() => nops.stop(2_000));
    await untilReady(nops.address, io);
    io.out(greeting(nops.address, nomad, repository, tokenFile));
    const cause = await Promise.race([nops.broken, untilInterrupted(io.interrupted)]);
    if (cause !== undefined) throw cause;
  } finally {
    for (const step of undo.reverse()) await step();
    if (flags.keep) io.err(`kept ${folder}\n`);
  }
}

const readyWithinMs = 15_000;

/** So that whoever follows the greeting at once finds the jobs. A Nomad that is away must not keep the greeting back for ever. */
async function untilReady(address: string, io: CommandIo): Promise<void> {
  const deadline = io.clock.now() + readyWithinMs;
  for (;;) {
    const { status } = await fetch(`${address}/readyz`);
    if (status === 200 || io.clock.now() > deadline || io.interrupted.aborted) return;
    await io.clock.sleep(100, io.interrupted).catch(() => undefined);
  }
}

function untilInterrupted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** A git repository with the example jobs, one commit, a work tree to edit. */
async function createRepository(folder: string): Promise<string> {
  const dir = join(folder, "jobs");
  cpSync(examplesFolder(), dir, { recursive: true });
  await git.init({ fs, dir, defaultBranch: "main" });
  // So that `git commit` works for whoever plays with it, without a configured identity.
  await git.setConfig({ fs, dir, path: "user.name", value: "nops demo" });
  await git.setConfig({ fs, dir, path: "user.email", value: "demo@localhost" });
  await git.add({ fs, dir, filepath: "." });
  await git.commit({ fs, dir, message: "Example jobs" });
  return dir;
}

/** Beside the program when installed; up from `dist/` in a checkout. */
function examplesFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const found = ["../../examples/demo", "../../../examples/demo"]
    .map((path) => join(here, path))
    .find((path) => fs.existsSync(path));
  if (found === undefined) throw new CommandError(exitCodes.failed, "the example jobs are not installed", "reinstall nops");
  return found;
}

interface ChosenNomad {
  readonly address: string;
  readonly kind: string;
}

/** `NOMAD_ADDR` when set, a dev agent when asked for, else the simulator. */
async function chooseNomad(
  flags: DemoFlags,
  io: CommandIo,
  folder: string,
  undo: (() => Promise<void> | void)[],
): Promise<ChosenNomad> {
  const address = io.environment["NOMAD_ADDR"];
  if (address !== undefined && address !== "") return { address, kind: "the Nomad of NOMAD_ADDR" };
  if (flags.devAgent) return startDevAgent(folder, io, undo);
  const simulator = createSimulator({ clock: io.clock });
  const listening = await simulator.listen(0);
  undo.push(() => simulator.close());
  return { address: listening.address, kind: "a simulated Nomad" };
}

const agentPatienceMs = 30_000;

async function startDevAgent(folder: string, io: CommandIo, undo: (() => Promise<void> | void)[]): Promise<ChosenNomad> {
  const [http, rpc, serf] = await Promise.all([freePort(), freePort(), freePort()]);
  const config = join(folder, "agent.hcl");
  writeFileSync(
    config,
    `bind_addr = "127.0.0.1"\ndisable_update_check = true\nports {\n  http = ${http}\n  rpc = ${rpc}\n  serf = ${serf}\n}\n`,
  );
  const agent = spawn("nomad", ["agent", "-dev", "-config", config], { stdio: "ignore" });
  const failed = new Promise<never>((_, reject) => {
    agent.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new CommandError(
          exitCodes.unreachable,
          `cannot start nomad: ${error.code ?? error.message}`,
          "--dev-agent needs the nomad program on PATH",
        ),
      ),
    );
    agent.once("exit", (code) => reject(new CommandError(exitCodes.unreachable, `the Nomad agent ended with ${code}`)));
  });
  failed.catch(() => undefined);
  undo.push(() => void agent.kill("SIGINT"));
  const address = `http://127.0.0.1:${http}`;
  const deadline = io.clock.now() + agentPatienceMs;
  while (!(await answers(address))) {
    if (io.clock.now() > deadline) throw new CommandError(exitCodes.unreachable, "the Nomad agent does not answer");
    await Promise.race([failed, io.clock.sleep(200, io.interrupted)]);
  }
  return { address, kind: "a Nomad dev agent" };
}

async function answers(address: string): Promise<boolean> {
  const nodes = await fetch(`${address}/v1/nodes`)
    .then((response) => response.json() as Promise<readonly { readonly Status: string }[]>)
    .catch(() => []);
  return nodes.some((node) => node.Status === "ready");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

function writeToken(folder: string, io: CommandIo): string {
  const path = join(folder, "token");
  writeFileSync(path, `${Buffer.from(io.random.bytes(32)).toString("base64url")}\n`, { mode: 0o600 });
  return path;
}

interface DemoParts {
  readonly folder: string;
  readonly repository: string;
  readonly tokenFile: string;
  readonly nomadAddress: string;
  readonly port: number;
}

async function startOperator(parts: DemoParts, io: CommandIo) {
  mkdirSync(join(parts.folder, "data"), { mode: 0o700 });
  const config = loadConfig({
    environment: {},
    flags: {
      "data-dir": join(parts.folder, "data"),
      "nomad-address": parts.nomadAddress,
      "git-url": parts.repository,
      "git-poll-interval": "1s",
      "http-listen": `127.0.0.1:${parts.port}`,
      "auth-bootstrap-token-file": parts.tokenFile,
      "auth-anonymous-read": "true",
      "log-level": "warn",
      "log-format": "text",
    },
  });
  const { log, redactor } = createTelemetry(config, io);
  try {
    return await startNops({ config, io, log, redactor, readOnly: false });
  } catch (error) {
    throw new CommandError(exitCodes.failed, `the demo cannot start: ${messageOf(error)}`, "--port 0 takes a free port");
  }
}

function greeting(address: string, nomad: ChosenNomad, repository: string, tokenFile: string): string {
  return `nops demo: ${address}

  Nomad       ${nomad.address} (${nomad.kind})
  Repository  ${repository}
  Token       ${tokenFile}

Try, in another terminal:

  export NOPS_ADDR=${address} NOPS_TOKEN_FILE=${tokenFile}
  npx nops jobs                     # every job and how it stands
  npx nops explain shop             # why shop waits
  npx nops approve shop             # shows the difference and asks
  sed -i 's/count = 2/count = 3/' ${repository}/apps/web.nomad.hcl
  git -C ${repository} commit -am "Three webs"
  npx nops events --follow          # nops looks at the repository every second

Stop with Ctrl-C.
`;
}
