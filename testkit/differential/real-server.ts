import { spawn } from "node:child_process";
import { access, constants, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../cmd/system-clock.ts";
import { ended, freePorts } from "../real-nomad.ts";

/** A real server without any client: what runs on its nodes is told by whoever speaks to its RPC port. */
export interface RealServer {
  readonly address: string;
  readonly rpcPort: number;
  stop(): Promise<void>;
}

const readyMs = 60_000;

/** Starts a server of one, with a folder of its own, and waits until it leads. Throws with the end of its output when it does not. */
export async function startRealServer(binary: string, acl = false): Promise<RealServer> {
  const folder = await mkdtemp(join(await fastFolder(), "nops-server-"));
  const [http, rpc, serf] = await freePorts();
  const config = join(folder, "server.hcl");
  await writeFile(config, serverConfig(folder, http, rpc, serf, acl));
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, TMPDIR: folder };
  const child = spawn(binary, ["agent", "-config", config], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-4_000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const stop = async () => {
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${http}`;
  const end = systemClock.now() + readyMs;
  while (!(await leads(address))) {
    if (child.exitCode === null && systemClock.now() < end) {
      await systemClock.sleep(100);
      continue;
    }
    await stop();
    throw new Error(`the server did not start:\n${output}`);
  }
  return { address, rpcPort: rpc, stop };
}

/** It leads when it has a key to sign the identities of nodes with: that is what a leader sets up last. */
async function leads(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/.well-known/jwks.json`);
    return answer.ok && ((await answer.json()) as { readonly keys?: readonly unknown[] }).keys?.length === 1;
  } catch {
    return false;
  }
}

/** Raft waits for the disk at each write; in memory it need not. */
async function fastFolder(): Promise<string> {
  return await access("/dev/shm", constants.W_OK).then(
    () => "/dev/shm",
    () => tmpdir(),
  );
}

function serverConfig(folder: string, http: number, rpc: number, serf: number, acl: boolean): string {
  return `bind_addr = "127.0.0.1"
data_dir = "${folder}/data"
disable_update_check = true
log_level = "WARN"
ports {
  http = ${http}
  rpc  = ${rpc}
  serf = ${serf}
}
advertise {
  http = "127.0.0.1"
  rpc  = "127.0.0.1"
  serf = "127.0.0.1"
}
server {
  enabled           = true
  bootstrap_expect  = 1
  raft_multiplier   = 1
  heartbeat_grace   = "24h"
  min_heartbeat_ttl = "24h"
}
limits {
  http_max_conns_per_client = 0
}
acl {
  enabled = ${acl}
}
`;
}
