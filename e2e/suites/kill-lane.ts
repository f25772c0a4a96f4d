/** One operator in a process of its own, killed again and again, with people and noise around it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { DeploymentJson, EventJson, JobJson, StatusJson } from "../../api/contract.ts";
import { systemClock } from "../../cmd/system-clock.ts";
import type { Random } from "../../model/clock.ts";
import { type NopsProcess, startNopsProcess } from "../../testkit/nops-process.ts";
import { createTempRepository, type TempRepository } from "../../testkit/temp-git.ts";
import { hookJob, serviceJob } from "./job-text.ts";
import { NomadLedger } from "./kill-ledger.ts";
import { nomadCaller } from "./nomad-caller.ts";

/** About what the program needs until it answers. */
const startMs = 800;
const token = "kill-lane-token";
const scaling = "    scaling {\n      min = 1\n      max = 9\n    }\n";

/** Jobs that nobody but nops touches: each of their deployments has to come to its good end. */
export const plainJobs = ["plain-0", "plain-1", "plain-2"] as const;
export const otherJobs = ["hooked-0", "hooked-1", "asked-0", "asked-1", "noisy", "scaled"] as const;
const allJobs: readonly string[] = [...plainJobs, ...otherJobs];

export interface LaneOptions {
  readonly nomad: string;
  readonly random: Random;
  /** Longest life after it has read git, in milliseconds: about what a deployment takes. */
  readonly lifeMs: number;
  /** Shell text of each hook. */
  readonly hookRun: string;
}

/** What was going on in the moment of a death, by what the database tells. */
export type DeathTally = Map<string, number>;

export class KillLane {
  readonly ledger: NomadLedger;
  readonly deaths: DeathTally = new Map();
  /** Deployments whose approval was answered with 200. */
  readonly acknowledged = new Set<string>();
  /** Hash of each event that somebody outside has seen. */
  readonly seenEvents = new Map<number, string>();
  readonly databasePath: string;
  readonly dataDir: string;
  readonly #options: LaneOptions;
  readonly #folder: string;
  readonly #repository: TempRepository;
  readonly #nomad: ReturnType<typeof nomadCaller>;
  #revision = 0;

  private constructor(options: LaneOptions, folder: string, repository: TempRepository) {
    this.#options = options;
    this.#folder = folder;
    this.#repository = repository;
    this.#nomad = nomadCaller(options.nomad);
    this.ledger = new NomadLedger(this.#nomad);
    this.dataDir = join(folder, "data");
    this.databasePath = join(this.dataDir, "nops.db");
  }

  static async open(options: LaneOptions): Promise<KillLane> {
    const folder = await mkdtemp(join(tmpdir(), "nops-kill-"));
    await writeFile(join(folder, "token"), token, { mode: 0o600 });
    const lane = new KillLane(options, folder, await createTempRepository());
    await lane.#repository.commit({
      files: {
        ...Object.fromEntries(["before", "second", "after"].map((id) => [`${id}.hcl`, hookJob(id, options.hookRun)] as const)),
        ...Object.fromEntries(allJobs.map((id) => [`${id}.hcl`, lane.#text(id)] as const)),
      },
    });
    return lane;
  }

  /** One life: a commit, a start, work and noise, and the end at a random instant. */
  async liveAndDie(jobs: readonly string[]): Promise<void> {
    const { random, lifeMs } = this.#options;
    await this.#commit(jobs.filter(() => random.next() < 0.4));
    const nops = this.#start();
    const age = random.next();
    const share = random.next();
    if (age < 0.1) await systemClock.sleep(share * startMs);
    else {
      const address = await addressOf(nops);
      if (age > 0.2) await this.#hasLooked(address);
      await this.#work(address, share * lifeMs, jobs);
    }
    nops.kill("SIGKILL");
    const { signal, stderr, stdout } = await nops.finished;
    if (signal !== "SIGKILL") throw new Error(`nops ended by itself: ${stdout}${stderr}`);
    this.#tally(age < 0.1 ? "while it starts" : "idle");
    await this.ledger.look(allJobs);
  }

  /** The last life is let alone until nothing is under way any more; it ends as a process should. */
  async settle(timeoutMs: number): Promise<readonly JobJson[]> {
    const nops = this.#start();
    const address = await addressOf(nops);
    const deadline = systemClock.now() + timeoutMs;
    let jobs: readonly JobJson[] = [];
    for (;;) {
      await this.#people(address);
      jobs = (await this.#get<{ jobs: JobJson[] }>(address, "/api/v1/jobs")).jobs;
      if (jobs.length === allJobs.length && jobs.every(isSettled)) break;
      if (systemClock.now() > deadline)
        throw new Error(
          `not settled: ${JSON.stringify(jobs.filter((job) => !isSettled(job)).map(({ job, sync, message }) => ({ job, sync, message })))}`,
        );
      await systemClock.sleep(50);
    }
    nops.kill("SIGTERM");
    const { code, stderr } = await nops.finished;
    if (code !== 0) throw new Error(`nops ended with ${code}: ${stderr}`);
    await this.ledger.look(allJobs);
    return jobs;
  }

  async close(): Promise<void> {
    await this.#repository.remove();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #start(): NopsProcess {
    const flags = {
      "data-dir": this.dataDir,
      "nomad-address": this.#options.nomad,
      "git-url": this.#repository.dir,
      "git-poll-interval": "1h",
      "http-listen": "127.0.0.1:0",
      "auth-bootstrap-token-file": join(this.#folder, "token"),
      "log-format": "json",
    };
    return startNopsProcess(["serve", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)], {
      cwd: this.#folder,
    });
  }

  /** What git says at this moment has been read. */
  async #hasLooked(address: string): Promise<void> {
    const head = await this.#repository.head();
    const deadline = systemClock.now() + 60_000;
    for (;;) {
      const { repositories } = await this.#get<StatusJson>(address, "/api/v1/status");
      if (repositories[0]?.commit === head) return;
      if (systemClock.now() > deadline) throw new Error(`git was not read within a minute: ${JSON.stringify(repositories)}`);
      await systemClock.sleep(20);
    }
  }

  async #work(address: string, forMs: number, jobs: readonly string[]): Promise<void> {
    const { random } = this.#options;
    const end = systemClock.now() + forMs;
    const chores = [
      ...(random.next() < 0.3
        ? [
            () =>
              this.#commitAndFetch(
                address,
                jobs.filter(() => random.next() < 0.3),
              ),
          ]
        : []),
      ...(jobs.includes("noisy") && random.next() < 0.3 ? [() => this.#editOutside()] : []),
      ...(jobs.includes("scaled") && random.next() < 0.3 ? [() => this.#scale()] : []),
    ].map((act) => ({ act, at: end - random.next() * forMs }));
    while (systemClock.now() < end) {
      const now = systemClock.now();
      for (const chore of chores.splice(0)) {
        if (chore.at <= now) await chore.act();
        else chores.push(chore);
      }
      await this.#people(address);
      await systemClock.sleep(Math.min(40, Math.max(0, end - systemClock.now())));
    }
  }

  /** A person approves whatever waits; another one reads the log. */
  async #people(address: string): Promise<void> {
    const { deployments } = await this.#get<{ deployments: DeploymentJson[] }>(
      address,
      "/api/v1/deployments?state=pending_approval",
    );
    for (const { id, spec_hash } of deployments) {
      const answer = await this.#send(address, `/api/v1/deployments/${id}/approve`, { spec_hash });
      if (answer.ok) this.acknowledged.add(id);
    }
    const { events } = await this.#get<{ events: EventJson[] }>(address, "/api/v1/events?limit=50");
    for (const event of events) this.seenEvents.set(event.id, event.hash);
  }

  async #commitAndFetch(address: string, jobs: readonly string[]): Promise<void> {
    await this.#commit(jobs);
    await this.#send(address, "/api/v1/fetch", {});
  }

  async #commit(jobs: readonly string[]): Promise<void> {
    if (jobs.length === 0) return;
    this.#revision++;
    await this.#repository.commit({ files: Object.fromEntries(jobs.map((id) => [`${id}.hcl`, this.#text(id)] as const)) });
  }

  #text(id: string): string {
    const env = { REVISION: String(this.#revision) };
    if (id.startsWith("hooked"))
      return serviceJob({ id, env, meta: { nops_pre_hook: "before,second", nops_post_hook: "after" } });
    if (id.startsWith("asked")) return serviceJob({ id, env, meta: { nops_policy: "approval", nops_pre_hook: "before" } });
    return serviceJob({ id, env, ...(id === "scaled" ? { group: scaling } : {}) });
  }

  async #editOutside(): Promise<void> {
    const live = await this.#nomad<Record<string, unknown>>("GET", "/v1/job/noisy").catch(() => undefined);
    if (live === undefined || live["Stop"] === true) return;
    const Priority = 51 + Math.floor(this.#options.random.next() * 40);
    const { JobModifyIndex } = await this.#nomad<{ JobModifyIndex: number }>("POST", "/v1/jobs", { Job: { ...live, Priority } });
    this.ledger.noteOutside("noisy", JobModifyIndex);
  }

  /** Nomad refuses it while a rollout is under way; then nobody scaled. */
  async #scale(): Promise<void> {
    const Count = 1 + Math.floor(this.#options.random.next() * 3);
    const answer = await this.#nomad<{ JobModifyIndex: number }>("POST", "/v1/job/scaled/scale", {
      Count,
      Target: { Group: "main" },
    }).catch(() => undefined);
    if (answer !== undefined) this.ledger.noteOutside("scaled", answer.JobModifyIndex);
  }

  async #get<T>(address: string, path: string): Promise<T> {
    const response = await fetch(`${address}${path}`, { headers: { authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  #send(address: string, path: string, body: unknown): Promise<Response> {
    return fetch(`${address}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  #tally(otherwise: string): void {
    let states: readonly string[] = [];
    try {
      const database = new Database(this.databasePath, { readonly: true, fileMustExist: true });
      states = database
        .prepare(
          `SELECT coalesce('hook ' || r.state || iif(r.dispatched_job_id IS NULL, ', not known', ''), d.state || iif(d.applied_index IS NULL, '', ', applied'))
           FROM deployments d LEFT JOIN hook_runs r ON r.deployment_id = d.id AND r.finished_at IS NULL
           WHERE d.state IN ('detected', 'pending_approval', 'pre_hook', 'applying', 'post_hook')`,
        )
        .pluck()
        .all() as string[];
      database.close();
    } catch {
      // It died before it had a database.
    }
    for (const state of states.length === 0 ? [otherwise] : new Set(states))
      this.deaths.set(state, (this.deaths.get(state) ?? 0) + 1);
  }
}

function isSettled(job: JobJson): boolean {
  return job.sync === "sync" || (job.sync === "blocked" && job.last_deployment?.state === "failed");
}

async function addressOf(nops: NopsProcess): Promise<string> {
  return (await nops.printed(/"address":"(http:[^"]+)".*\n/))[1] ?? "";
}
