/** The whole operator in this process, over real sockets: database in a folder, git repository, a Nomad by its address. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../cmd/config/load.ts";
import type { CommandIo } from "../cmd/io.ts";
import { systemClock, systemRandom } from "../cmd/system-clock.ts";
import { type RunningNops, startNops } from "../cmd/wire.ts";
import { silentLog } from "../model/log.ts";
import { Redactor } from "../model/redact.ts";
import { createTempRepository, type TempRepository } from "./temp-git.ts";

export interface LiveOperator {
  /** Of the HTTP API. */
  readonly address: string;
  readonly repository: TempRepository;
  readonly dataDir: string;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  /** Resolves with the first answer that satisfies; asks again after every event. @throws after `timeoutMs`. */
  until<T>(path: string, satisfied: (answer: T) => boolean, timeoutMs?: number): Promise<T>;
  stop(): Promise<void>;
}

export interface LiveOperatorOptions {
  readonly nomad: string;
  readonly files: Readonly<Record<string, string>>;
  /** Flags of `nops serve` without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

const token = "live-operator-token";

/** Starts with one commit of `files`. */
export async function startLiveOperator(options: LiveOperatorOptions): Promise<LiveOperator> {
  const dataDir = await mkdtemp(join(tmpdir(), "nops-live-"));
  const repository = await createTempRepository();
  await repository.commit({ files: options.files });
  const config = loadConfig({
    environment: { NOPS_AUTH_BOOTSTRAP_TOKEN_FILE: await tokenFile(dataDir) },
    flags: {
      "data-dir": join(dataDir, "data"),
      "nomad-address": options.nomad,
      "git-url": repository.dir,
      "git-poll-interval": "1h",
      "http-listen": "127.0.0.1:0",
      ...options.flags,
    },
  });
  const nops = await startNops({
    config,
    io: quietIo(options.environment ?? {}),
    readOnly: false,
    log: silentLog,
    redactor: new Redactor(),
  });
  return { repository, dataDir, ...client(nops), stop: () => stopAll(nops, repository, dataDir) };
}

async function tokenFile(folder: string): Promise<string> {
  const { writeFile } = await import("node:fs/promises");
  const path = join(folder, "token");
  await writeFile(path, token, { mode: 0o600 });
  return path;
}

async function stopAll(nops: RunningNops, repository: TempRepository, dataDir: string): Promise<void> {
  await nops.stop(2_000);
  await repository.remove();
  await rm(dataDir, { recursive: true, force: true });
}

function client(nops: RunningNops) {
  const call = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const response = await fetch(`${nops.address}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    const body = (await response.json()) as T;
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(body)}`);
    return body;
  };
  const get = <T>(path: string): Promise<T> => call<T>(path);
  return {
    address: nops.address,
    get,
    post: <T>(path: string, body: unknown = {}): Promise<T> => call<T>(path, { method: "POST", body: JSON.stringify(body) }),
    until: async <T>(path: string, satisfied: (answer: T) => boolean, timeoutMs = 30_000): Promise<T> => {
      const deadline = systemClock.now() + timeoutMs;
      for (;;) {
        const asked = systemClock.now();
        const answer = await get<T>(path);
        const tookMs = systemClock.now() - asked;
        if (satisfied(answer)) return answer;
        if (systemClock.now() > deadline)
          throw new Error(
            `${path} did not become what was waited for within ${timeoutMs} ms: ${JSON.stringify(answer).slice(0, 2_000)}`,
          );
        // A large answer is asked for less often, so that looking does not keep nops from working.
        await systemClock.sleep(Math.max(25, 10 * tookMs));
      }
    },
  };
}

function quietIo(environment: Readonly<Record<string, string>>): CommandIo {
  return {
    out: () => undefined,
    err: () => undefined,
    environment,
    workingDirectory: tmpdir(),
    interactive: false,
    colour: { out: false, err: false },
    confirm: () => Promise.resolve(false),
    readSecret: () => Promise.resolve(""),
    interrupted: new AbortController().signal,
    clock: systemClock,
    random: systemRandom,
  };
}
