import { jobKey } from "../model/job-key.ts";
import { type Pass, type Reconciler, type Result, settled } from "../queue/reconciler.ts";
import type { FactsPort, NomadPort } from "./ports.ts";

/**
 * Stops hook revisions that no active deployment needs any more (operator §13.7): one key per namespace, woken when a deployment with
 * hooks ends. Their runs and logs stay readable, and a run that is under way goes on.
 */
export class RevisionCollector implements Reconciler<string> {
  readonly name = "revisions";
  private readonly nomad: Pick<NomadPort, "listJobs" | "stopJob">;
  private readonly store: Pick<FactsPort, "revisionsInUse">;

  constructor(deps: {
    readonly nomad: Pick<NomadPort, "listJobs" | "stopJob">;
    readonly store: Pick<FactsPort, "revisionsInUse">;
  }) {
    this.nomad = deps.nomad;
    this.store = deps.store;
  }

  async reconcile(namespace: string, pass: Pass): Promise<Result> {
    const { jobs } = await this.nomad.listJobs(namespace, { meta: true });
    const candidates = jobs.filter(
      (job) => job.ParentID === "" && !job.Stop && job.Meta?.nops_role === "hook" && /-[0-9a-f]{8}$/.test(job.ID),
    );
    if (candidates.length === 0) return settled;
    // Read after Nomad: a revision that came into use meanwhile is in the list of those in use, not among the forgotten.
    const inUse = new Set(await this.store.revisionsInUse());
    for (const job of candidates) {
      const key = jobKey(namespace, job.ID);
      if (inUse.has(key)) continue;
      await this.nomad.stopJob(key);
      pass.log.info("a hook revision that nobody needs any more was stopped", { revision: key });
    }
    return settled;
  }
}
