import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { systemClock, systemRandom } from "../cmd/system-clock.ts";
import { jobKey } from "../model/job-key.ts";
import { createNomadClient } from "../nomad/client.ts";

/** A running development agent. */
export interface RealNomad {
  readonly address: string;
  /** Management token, where ACLs are on. */
  readonly token: string | undefined;
  /** Ends the agent and its tasks and removes its folder. */
  stop(): Promise<void>;
}

const READY_MS = 40_000;
const END_MS = 15_000;

/** Path of the `nomad` binary on PATH; `undefined` when there is none. */
export async function findNomad(): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, "nomad");
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (folder !== "" && found) return path;
  }
  return undefined;
}

/** Starts `nomad agent -dev` on free loopback ports, with a folder of its own, and waits until it schedules. */
export async function startRealNomad(binary: string, options: { readonly acl?: boolean } = {}): Promise<RealNomad> {
  const folder = await mkdtemp(join(tmpdir(), "nops-nomad-"));
  const [http, rpc, serf] = await freePorts();
  const config = join(folder, "agent.hcl");
  await writeFile(config, agentConfig({ http, rpc, serf }, options.acl === true));
  const output: string[] = [];
  // Nothing of this environment but what it needs to run: NOMAD_* of ours would change how it behaves.
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, TMPDIR: folder };
  const child = spawn(binary, ["agent", "-dev", "-config", config], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", (chunk: Buffer) => keep(output, chunk));
  child.stderr.on("data", (chunk: Buffer) => keep(output, chunk));
  const stop = async (): Promise<void> => {
    await ended(child);
    await unmountBelow(folder);
    await rm(folder, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${http}`;
  try {
    const token = await ready(address, options.acl === true, child);
    return {
      address,
      token,
      async stop() {
        await endTasks(address, token, folder);
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw new Error(`nomad did not start: ${String(error)}\n${output.join("").slice(-2_000)}`);
  }
}

function agentConfig(ports: { readonly http: number; readonly rpc: number; readonly serf: number }, acl: boolean): string {
  return `bind_addr = "127.0.0.1"
disable_update_check = true
log_level = "WARN"
ports {
  http = ${ports.http}
  rpc  = ${ports.rpc}
  serf = ${ports.serf}
}
client {
  network_interface = "lo"
  options = { "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault" }
}
acl {
  enabled = ${acl}
}
`;
}

async function ready(address: string, acl: boolean, child: ChildProcess): Promise<string | undefined> {
  const deadline = systemClock.now() + READY_MS;
  let token: string | undefined;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    try {
      if (acl) token ??= await bootstrap(address);
      const client = createNomadClient({ address, token, clock: systemClock, random: systemRandom });
      try {
        const nodes = (await client.statusLeader()) === "" ? [] : await client.listNodes();
        if (nodes.some(({ Status }) => Status === "ready")) return token;
      } finally {
        client.close();
      }
    } catch (error) {
      if (systemClock.now() > deadline) throw error;
    }
    if (systemClock.now() > deadline) throw new Error(`not ready within ${READY_MS / 1000} s`);
    await systemClock.sleep(200);
  }
}

async function bootstrap(address: string): Promise<string> {
  const answer = await fetch(`${address}/v1/acl/bootstrap`, { method: "POST" });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`bootstrap: ${answer.status} ${text}`);
  return (JSON.parse(text) as { readonly SecretID: string }).SecretID;
}

/** An agent that goes leaves its tasks running, so they go first. Their processes name our folder on their command line. */
async function endTasks(address: string, token: string | undefined, folder: string): Promise<void> {
  const client = createNomadClient({ address, token, clock: systemClock, random: systemRandom });
  try {
    for (const { Namespace, ID } of (await client.listJobs("*")).jobs) await client.purgeJob(jobKey(Namespace, ID));
    const deadline = systemClock.now() + END_MS;
    while ((await executorsIn(folder)) && systemClock.now() < deadline) await systemClock.sleep(100);
  } finally {
    client.close();
  }
}

async function executorsIn(folder: string): Promise<boolean> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return commands.some((command) => command.includes("\0executor\0") && command.includes(`"${folder}/`));
}

/** Ends a process that was started here: asked first, then killed. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  const timer = systemClock.setTimer(END_MS, () => child.kill("SIGKILL"));
  await exit;
  timer.cancel();
}

/** Run as root, Nomad mounts a small file system for the secrets of each task and leaves it behind. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = await readFile("/proc/self/mounts", "utf8").catch(() => "");
  const below = mounts
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path.startsWith(`${folder}/`));
  for (const path of below) {
    const child = spawn("umount", [path], { stdio: "ignore" });
    await new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
  }
}

function keep(output: string[], chunk: Buffer): void {
  output.push(chunk.toString("utf8"));
  if (output.length > 200) output.shift();
}

/** Three ports on loopback that nobody listens on now. */
export async function freePorts(): Promise<[number, number, number]> {
  const servers = await Promise.all([listening(), listening(), listening()]);
  await Promise.all(servers.map(({ close }) => close()));
  const [a, b, c] = servers;
  return [a.port, b.port, c.port];
}

async function listening(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
