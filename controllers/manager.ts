/**
 * Builds the operator from its ports, starts it, and stops it. The only file that knows all controllers.
 *
 * Start order: git and the watch. What the store holds goes on as soon as the first list of its namespace shows that the database is no
 * older copy (a crash is nothing special); a pass that needs a list or a snapshot not yet read waits for it by itself.
 */
import { toInstant } from "../model/clock.ts";
import type { Actor } from "../model/deployment.ts";
import { NotFoundError } from "../model/errors.ts";
import { type JobKey, splitJobKey } from "../model/job-key.ts";
import type { OperatorMode } from "../plan/gates.ts";
import { approve, reject } from "./approval.ts";
import { type DecisionDeps, insist } from "./decision-deps.ts";
import { deployNow, pauseAll, pauseJob, resumeAll, resumeJob } from "./holding.ts";
import type { Operator, OperatorDeps } from "./operator.ts";
import { buildParts, orphansAfterMs, type Parts } from "./parts.ts";
import type { NomadSignal } from "./ports.ts";
import { failRollout, promote } from "./promotion.ts";
import { Queries } from "./queries.ts";
import { retry } from "./retry.ts";
import { priorities } from "./wakes.ts";

/** After a look at the unfinished deployments that failed, ms. */
const resumeAgainMs = 2_000;

/** Builds the operator; nothing runs before `start`. */
export function createOperator(deps: OperatorDeps): Operator {
  const parts = buildParts(deps);
  const queries = new Queries(deps, parts);
  const run = new Run(deps, parts);
  return {
    start: async () => run.start(),
    stop: (graceMs) => run.stop(graceMs),
    fetch: (repository, accept, afterMs) => run.fetch(repository, accept, afterMs),
    setMode: (mode) => run.setMode(mode),
    ...decisionsOf(parts.decisions),
    jobs: () => queries.jobs(),
    job: (key) => queries.job(key),
    explain: (key) => queries.explain(key),
    orphans: () => queries.orphans(),
    repositories: () => parts.source.view(),
    status: () => queries.status(),
  };
}

/** People's decisions, each a function of its own over the same deps. */
function decisionsOf(deps: DecisionDeps) {
  return {
    approve: (id, specHash, comment, actor) => insist(() => approve(id, specHash, comment, actor, deps)),
    reject: (id, comment, actor) => insist(() => reject(id, comment, actor, deps)),
    retry: (id, wish, actor) => insist(() => retry(id, wish, actor, deps)),
    promote: (id, actor) => insist(() => promote(id, actor, deps)),
    fail: (id, actor) => insist(() => failRollout(id, actor, deps)),
    pauseJob: (key, reason, actor) => pauseJob(key, reason, actor, deps),
    resumeJob: (key, actor) => resumeJob(key, actor, deps),
    pauseAll: (reason, actor) => pauseAll(reason, actor, deps),
    resumeAll: (actor) => resumeAll(actor, deps),
    deployNow: (key, specHash, actor) => insist(() => deployNow(key, specHash, actor, deps)),
    resolveHook: (runId, resolution, actor) => deps.store.resolveHook(runId, resolution, actor),
  } satisfies Partial<Operator>;
}

/** Life of one operator. */
class Run {
  private readonly deps: OperatorDeps;
  private readonly parts: Parts;
  private readonly abort = new AbortController();
  private readonly watches: Promise<void>[] = [];

  constructor(deps: OperatorDeps, parts: Parts) {
    this.deps = deps;
    this.parts = parts;
    parts.onProven.do = (namespace) => this.onProven(namespace);
    parts.onTimer["resume"] = () => this.resumeLater();
  }

  start(): void {
    this.parts.startedAt.value = toInstant(this.deps.clock.now());
    for (const { name } of this.deps.settings.repositories) this.parts.loops.source.add(name);
    for (const namespace of this.deps.settings.namespaces) {
      const watch = this.deps.watch.watch(namespace, (signal) => this.onSignal(signal), this.abort);
      this.watches.push(watch.catch((error: unknown) => this.onWatchEnd(namespace, error)));
    }
    this.scheduleReplan();
  }

  /** Every unfinished deployment goes on from what the store holds (operator §15). */
  private async resume(): Promise<void> {
    for (const deployment of await this.deps.store.activeDeployments()) {
      if (this.deps.settings.namespaces.includes(deployment.namespace)) this.parts.wakes.moved(deployment);
    }
  }

  /**
   * 1. The watch and all timers, so that nothing new is asked for. 2. Source, whose passes only read. 3. Drift, so that no deployment
   * starts any more. 4. Hooks and apply, whose passes may be in the middle of a call whose outcome has to be stored.
   */
  async stop(graceMs: number): Promise<void> {
    this.abort.abort(new Error("nops is stopping"));
    this.parts.timers.clearAll();
    this.parts.edges.clearAll();
    this.parts.past.stop();
    const end = this.deps.clock.now() + graceMs;
    const left = (): number => Math.max(0, end - this.deps.clock.now());
    const { source, drift, ...others } = this.parts.loops;
    await source.drain(left());
    await drift.drain(left());
    // Whatever loop is added later is drained too: one that goes on would use a store that is closed.
    await Promise.all(Object.values(others).map((loop) => loop.drain(left())));
    await Promise.all(this.watches);
  }

  fetch(repository: string | undefined, accept: Actor | undefined, afterMs = 0): void {
    const names = this.deps.settings.repositories.map((each) => each.name);
    if (repository !== undefined && !names.includes(repository)) {
      throw new NotFoundError(`no repository is called ${repository}`, {
        code: "unknown_repository",
        hint: `known are ${names.join(", ")}`,
      });
    }
    for (const name of repository === undefined ? names : [repository]) {
      if (accept !== undefined) this.parts.source.accept(name, accept);
      this.parts.loops.source.add(name, { priority: priorities.person, afterMs });
    }
  }

  setMode(mode: OperatorMode): void {
    this.parts.mode.current = mode;
    for (const job of this.parts.desired.managed()) this.parts.wakes.job(job.key);
    this.resumeLater();
  }

  /** Goes on with everything unfinished; when that cannot be looked up now it is tried again, since no event may come for it. */
  private resumeLater(): void {
    this.resume().catch((error: unknown) => {
      if (this.abort.signal.aborted) return;
      this.parts.timers.set("resume", this.deps.clock.now() + resumeAgainMs);
      this.deps.log.error("unfinished deployments could not be looked up", {
        error: error instanceof Error ? error.message : String(error),
      });
    });
  }

  private onSignal(signal: NomadSignal): void {
    if (signal.kind === "listed") {
      const changed = this.parts.live.listed(signal, this.deps.clock.now());
      for (const key of changed) this.wakeIfOurs(key);
      this.parts.loops.orphans.add("all", { afterMs: orphansAfterMs });
      // Nomad answers: what it could not parse before need not wait any longer.
      for (const name of this.parts.source.failing()) this.parts.loops.source.add(name);
      void this.parts.past.look(signal.namespace, signal.jobs);
      return;
    }
    this.parts.wakes.signal(signal.key);
    if (signal.topic !== undefined && signal.topic !== "Job") return;
    if (signal.jobModifyIndex !== undefined) {
      if (this.parts.live.note(signal.key, signal.jobModifyIndex, signal.index)) this.wakeIfOurs(signal.key);
      return;
    }
    this.parts.live.doubt(signal.key);
    this.wakeIfOurs(signal.key);
  }

  /** A namespace may be acted upon: what waited for that goes on. */
  private onProven(namespace: string): void {
    for (const job of this.parts.desired.managed())
      if (splitJobKey(job.key).namespace === namespace) this.parts.wakes.job(job.key);
    this.resumeLater();
  }

  private wakeIfOurs(key: JobKey): void {
    const { kind } = this.parts.desired.state(key);
    if (kind === "managed") this.parts.wakes.job(key);
    if (this.parts.orphans.get(key) !== undefined) this.parts.loops.orphans.add("all", { afterMs: orphansAfterMs });
  }

  private onWatchEnd(namespace: string, error: unknown): void {
    if (this.abort.signal.aborted) return;
    this.deps.log.error("the watch of Nomad ended by itself", {
      namespace,
      error: error instanceof Error ? error.message : String(error),
    });
  }

  /** The safety net for what plan cannot see and events did not tell (design D5): all jobs at once, behind everything else. */
  private scheduleReplan(): void {
    const { replanIntervalMs } = this.deps.settings;
    if (replanIntervalMs <= 0) return;
    this.parts.timers.set("replan", this.deps.clock.now() + replanIntervalMs);
    this.parts.onTimer.replan = () => {
      for (const job of this.parts.desired.managed()) {
        this.parts.live.doubt(job.key);
        this.parts.wakes.job(job.key, priorities.sweep);
      }
      this.scheduleReplan();
    };
  }
}
