/** Lives of one operator process over one data folder, behind a door through which its calls to Nomad go. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { DeploymentDetailJson, DeploymentJson } from "../../api/contract.ts";
import { startHttpServer, type TestServer } from "../../testkit/http-server.ts";
import { type CallMatcher, type NomadDoor, openNomadDoor } from "../../testkit/nomad-door.ts";
import { type ServedNops, type ServingPlace, servingPlace } from "../../testkit/served-nops.ts";
import { type Bolt, type StoreBolts, storeBolts } from "../../testkit/store-bolts.ts";
import { type NomadCaller, nomadCaller } from "./nomad-caller.ts";

export interface LifeOptions {
  /** So much later than everybody else's clock says. */
  readonly laterMs?: number;
  /** Sections of its configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly flags?: readonly string[];
}

export class DoorWorld {
  readonly place: ServingPlace;
  readonly door: NomadDoor;
  readonly nomad: NomadCaller;
  readonly dataDir: string;
  readonly databasePath: string;
  readonly #receiver: TestServer;
  #committed: Promise<unknown> = Promise.resolve();
  #nops: ServedNops | undefined;
  #bolts: StoreBolts | undefined;

  private constructor(place: ServingPlace, door: NomadDoor, receiver: TestServer) {
    this.place = place;
    this.door = door;
    this.nomad = nomadCaller(place.nomad);
    this.#receiver = receiver;
    this.dataDir = join(place.folder, "data");
    this.databasePath = join(this.dataDir, "nops.db");
  }

  static async open(): Promise<DoorWorld> {
    const place = await servingPlace({ nodes: [{ cpu: 10_000 }] });
    const receiver = await startHttpServer((_request, response) => void response.end());
    writeFileSync(join(place.folder, "receiver"), receiver.address);
    return new DoorWorld(place, await openNomadDoor(place.nomad), receiver);
  }

  /** The process that lives now. */
  get nops(): ServedNops {
    if (this.#nops === undefined) throw new Error("no process lives");
    return this.#nops;
  }

  /** Starts the next life; `config` is what it has beside the usual. */
  async begin({ laterMs = 0, config = {}, flags = [] }: LifeOptions = {}): Promise<void> {
    const file = join(this.place.folder, "nops.yml");
    const notifications = [{ type: "webhook", url_file: join(this.place.folder, "receiver") }];
    writeFileSync(file, JSON.stringify({ notifications, ...config }));
    const usual = [`--config=${file}`, "--engine-concurrency=24", "--engine-apply-timeout=10m"];
    this.#nops = await this.place.serveWith({ nomad: this.door.address, laterMs }, this.dataDir, ...usual, ...flags);
    this.#bolts = storeBolts(this.databasePath);
  }

  /** The process dies where it stands; what it had asked for and what had not happened yet does not happen any more. */
  async kill(): Promise<void> {
    await this.nops.kill();
    this.door.cutAll();
    this.#bolts?.drawAll();
  }

  /** Commits one after another, and lets nops look. Returns the commit. */
  commit(files: Readonly<Record<string, string | null>>): Promise<string> {
    const next = this.#committed.then(async () => {
      const sha = await this.place.repository.commit({ files });
      await this.nops.post("/api/v1/fetch");
      return sha;
    });
    this.#committed = next.catch(() => undefined);
    return next;
  }

  async close(): Promise<void> {
    await this.place.close();
    await this.door.close();
    await this.#receiver.close();
  }

  /** A write that the store refuses until the bolt is drawn or the process is dead. */
  bolt(name: string, before: string, when: string): Bolt {
    if (this.#bolts === undefined) throw new Error("no database yet");
    return this.#bolts.bolt(this.nops.process, name, before, when);
  }

  /** As `bolt`, for any move of a job's deployment into a state. */
  boltMove(job: string, to: string): Bolt {
    return this.bolt(`${job} to ${to}`, "UPDATE OF state ON deployments", `NEW.job_id = '${job}' AND NEW.state = '${to}'`);
  }

  boltCreation(job: string): Bolt {
    return this.bolt(`creation of ${job}`, "INSERT ON deployments", `NEW.job_id = '${job}'`);
  }

  deployment(job: string, satisfied: (row: DeploymentJson) => boolean): Promise<DeploymentJson> {
    return this.nops.untilDeployment(job, satisfied);
  }

  async detail(job: string): Promise<DeploymentDetailJson> {
    const { id } = await this.deployment(job, () => true);
    return this.nops.get<DeploymentDetailJson>(`/api/v1/deployments/${id}`);
  }

  /** First column of every row that the database has. */
  read<T>(query: string, ...values: readonly string[]): readonly T[] {
    const database = new Database(this.databasePath, { readonly: true, timeout: 10_000 });
    try {
      return database.prepare(query).pluck().all(values) as T[];
    } finally {
      database.close();
    }
  }

  /** What a receiver of notifications was told of a job, in all lives. */
  notified(job: string): readonly string[] {
    const told = this.#receiver.seen.map(({ body }) => JSON.parse(body) as { readonly job: string; readonly event: string });
    return told.filter((each) => each.job === job).map((each) => each.event);
  }

  /** How often its spec was sent to be registered, in all lives. */
  registers(job: string): number {
    return this.door.count(registerOf(job));
  }

  /** Runs of a hook that Nomad has. */
  async children(hook: string): Promise<readonly string[]> {
    const jobs = await this.nomad<readonly { readonly ID: string; readonly ParentID: string }[]>(
      "GET",
      `/v1/jobs?prefix=${hook}-`,
    );
    return jobs.filter((job) => job.ParentID !== "").map((job) => job.ID);
  }

  /** Somebody else changes a live job. */
  async edit(job: string, priority: number): Promise<void> {
    const live = await this.nomad<Record<string, unknown>>("GET", `/v1/job/${job}`);
    await this.nomad("POST", "/v1/jobs", { Job: { ...live, Priority: priority } });
  }
}

/** A register of one job. */
export function registerOf(job: string): CallMatcher {
  return ({ method, path, body }) =>
    method === "PUT" && path === "/v1/jobs" && (JSON.parse(body) as { Job: { ID: string } }).Job.ID === job;
}

/** A call about any revision of a hook: `plan`, `dispatch`. */
export function hookCall(hook: string, what: "plan" | "dispatch"): CallMatcher {
  const pattern = new RegExp(`^/v1/job/${hook}-[0-9a-f]{8}/${what}$`);
  return ({ method, path }) => method === "PUT" && pattern.test(path);
}

/** The stop of a hook's run; that of its revision is another matter. */
export function stopOf(hook: string): CallMatcher {
  const pattern = new RegExp(`^/v1/job/${hook}-[0-9a-f]{8}/dispatch-`);
  return ({ method, path }) => method === "DELETE" && pattern.test(decodeURIComponent(path));
}
