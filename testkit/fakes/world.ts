import { createOperator } from "../../controllers/manager.ts";
import type { Operator, OperatorDeps } from "../../controllers/operator.ts";
import type { StorePort } from "../../controllers/ports.ts";
import type { OperatorSettings } from "../../controllers/settings.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import { type Log, silentLog } from "../../model/log.ts";
import type { JobSpec } from "../../model/nomad.ts";
import { Redactor } from "../../model/redact.ts";
import { builtInDefaults } from "../../model/settings.ts";
import { type FakeClock, SeededRandom } from "../fake-clock.ts";
import { FakeGit } from "./fake-git.ts";
import { FakeNomad } from "./fake-nomad.ts";

export const defaultSettings: OperatorSettings = {
  mode: "normal",
  repositories: [{ name: "main", pollIntervalMs: 60_000, namespaces: [], defaults: builtInDefaults }],
  namespaces: ["default"],
  applyTimeoutMs: 600_000,
  replanIntervalMs: 0,
  concurrency: 8,
  maxNewDeploymentsPerCycle: 0,
  approval: { required: 1, authorMayApprove: true, minPolicy: () => undefined },
};

/** A whole operator over a store of the caller's choice, with Nomad, git, clock and chance in the test's hands. */
export class World {
  readonly clock: FakeClock;
  readonly nomad: FakeNomad;
  readonly git: FakeGit;
  readonly redactor = new Redactor();
  readonly store: StorePort;
  operator: Operator;
  private readonly settings: OperatorSettings;
  private readonly log: Log;

  constructor(options: {
    readonly store: StorePort;
    readonly clock: FakeClock;
    readonly settings?: Partial<OperatorSettings>;
    readonly nomad?: FakeNomad;
    readonly git?: FakeGit;
    readonly log?: Log;
    readonly ports?: (deps: OperatorDeps) => OperatorDeps;
  }) {
    this.clock = options.clock;
    this.store = options.store;
    this.nomad = options.nomad ?? new FakeNomad();
    this.git = options.git ?? new FakeGit();
    this.log = options.log ?? silentLog;
    this.settings = { ...defaultSettings, ...options.settings };
    const wrap = options.ports ?? ((deps: OperatorDeps) => deps);
    this.operator = createOperator(wrap(this.deps()));
  }

  private deps(): OperatorDeps {
    const { nomad, git, store, clock, log, redactor, settings } = this;
    return { nomad, git, store, clock, log, redactor, settings, watch: nomad, random: new SeededRandom(5) };
  }

  /** Replaces the process: a new operator over the same store, Nomad and git. The old one must have been stopped or be dead. */
  restart(settings: Partial<OperatorSettings> = {}, wrap: (deps: OperatorDeps) => OperatorDeps = (deps) => deps): void {
    this.operator = createOperator(wrap({ ...this.deps(), settings: { ...this.settings, ...settings } }));
  }

  /** Makes a repository's new state known and lets everything that follows from it happen. */
  async commit(files: Readonly<Record<string, JobSpec | string>>, repository = "main"): Promise<string> {
    const sha = this.git.commit(repository, files);
    this.operator.fetch(repository);
    await this.clock.advance(2_000);
    return sha;
  }

  /** States of the job's newest deployment. */
  async latest(job: string, namespace = "default") {
    return (await this.store.jobFacts(jobKey(namespace, job))).latest;
  }
}

export const key = (job: string, namespace = "default"): JobKey => jobKey(namespace, job);

/** A service job with the given annotations, by default managed and automatic. */
export function service(
  id: string,
  change: {
    readonly image?: string;
    readonly meta?: Record<string, string>;
    readonly count?: number;
    readonly more?: Partial<JobSpec>;
  } = {},
): JobSpec {
  return {
    ID: id,
    Name: id,
    Type: "service",
    Meta: { nops_managed: "true", nops_policy: "auto", ...change.meta },
    TaskGroups: [
      {
        Name: "main",
        Count: change.count ?? 1,
        Tasks: [{ Name: "main", Driver: "docker", Config: { image: change.image ?? `${id}:1` } }],
      },
    ],
    ...change.more,
  };
}
