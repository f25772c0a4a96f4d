import { toInstant } from "../model/clock.ts";
import { NotFoundError } from "../model/errors.ts";
import { type JobKey, splitJobKey } from "../model/job-key.ts";
import { type SyncState, syncStates } from "../model/sync-state.ts";
import { toExplainView, toJobView } from "./job-views.ts";
import type { OperatorDeps } from "./operator.ts";
import type { Parts } from "./parts.ts";
import type { ExplainView, JobView, LoopView, OperatorView } from "./views.ts";

/** Answers from memory and the store; no question costs a call to Nomad. */
export class Queries {
  private readonly deps: OperatorDeps;
  private readonly parts: Parts;

  constructor(deps: OperatorDeps, parts: Parts) {
    this.deps = deps;
    this.parts = parts;
  }

  /** Managed and frozen jobs and orphans, sorted by key. */
  async jobs(): Promise<readonly JobView[]> {
    const keys = this.parts.desired.keys().filter((key) => this.parts.desired.state(key).kind !== "unmanaged");
    return Promise.all([...new Set([...keys, ...this.parts.orphans.keys()])].toSorted().map((key) => this.view(key)));
  }

  async orphans(): Promise<readonly JobView[]> {
    return Promise.all(this.parts.orphans.keys().map((key) => this.view(key)));
  }

  async job(key: JobKey): Promise<JobView> {
    const view = await this.view(key);
    if (this.parts.desired.state(key).kind === "absent" && view.lastDeployment === undefined) {
      const { namespace, jobId } = splitJobKey(key);
      throw new NotFoundError(`neither git nor nops's records have a job ${jobId} in namespace ${namespace}`, {
        code: "unknown_job",
      });
    }
    return view;
  }

  async explain(key: JobKey): Promise<ExplainView> {
    await this.job(key);
    const { input } = await this.parts.gatherer.gather(key, "memory");
    return toExplainView(key, input);
  }

  async status(): Promise<OperatorView> {
    const jobs = Object.fromEntries(syncStates.map((state) => [state, 0])) as Record<SyncState, number>;
    for (const view of await this.jobs()) jobs[view.sync] += 1;
    return {
      mode: this.parts.mode.current,
      startedAt: this.parts.startedAt.value,
      repositories: this.parts.source.view(),
      namespaces: this.deps.settings.namespaces.map((namespace) => {
        const at = this.parts.live.listedAt(namespace);
        return { namespace, listedAt: at === undefined ? undefined : toInstant(at), liveJobs: this.parts.live.size(namespace) };
      }),
      loops: this.loops(),
      jobs,
      orphans: jobs.orphan,
      notReady: this.notReady(),
    };
  }

  private notReady(): Record<string, string> {
    const reasons: Record<string, string> = {};
    // A commit whose files are still being parsed is not in the view.
    for (const { name, error, checkedAt, commitSha } of this.parts.source.view())
      if (error !== undefined || checkedAt === undefined || commitSha === undefined)
        reasons[`repository ${name}`] = error ?? "not read yet";
    for (const namespace of this.deps.settings.namespaces) {
      if (this.parts.past.isProven(namespace)) continue;
      reasons[`namespace ${namespace}`] = this.parts.live.isListed(namespace)
        ? "its history in Nomad cannot be read, so whether the database is an older copy is not known yet"
        : "its jobs have not been listed yet";
    }
    return reasons;
  }

  private loops(): LoopView[] {
    return Object.values(this.parts.loops).map((loop) => ({
      name: loop.name,
      waiting: loop.waiting,
      running: loop.running,
      failing: loop.failing,
      lastPassAt: loop.lastPassAt === undefined ? undefined : toInstant(loop.lastPassAt),
    }));
  }

  private async view(key: JobKey): Promise<JobView> {
    const { input } = await this.parts.gatherer.gather(key, "memory");
    return toJobView(key, input, this.parts.orphans.get(key));
  }
}
