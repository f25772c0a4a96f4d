import { messageOf } from "../model/errors.ts";
import type { JobOnRecord } from "../model/facts.ts";
import { type JobKey, splitJobKey } from "../model/job-key.ts";
import type { Log } from "../model/log.ts";
import type { JobStub } from "../model/nomad.ts";
import { isUlid, ulidTime } from "../model/ulid.ts";
import type { FactsPort, NomadPort, PastPort } from "./ports.ts";
import { deploymentIn } from "./stamp.ts";

export interface PastDeps {
  readonly store: Pick<FactsPort, "jobsOnRecord" | "deployment"> & PastPort;
  readonly nomad: Pick<NomadPort, "jobVersions" | "readSubmission">;
  readonly log: Log;
  /** Nomad holds nothing of the namespace that the database does not know of: what it holds may be acted upon. */
  readonly onProven: (namespace: string) => void;
  /** The database is older than what it did. */
  readonly onOlder: () => void;
  /** Comes back to the namespace later. */
  readonly again: (namespace: string) => void;
}

/**
 * Finds out, once for each namespace after the start and before anything is done there, whether the database is a restored older one
 * (design D34): Nomad then has versions that were registered by deployments of which the database knows nothing. Only jobs whose index
 * the database has not seen are looked at, so an ordinary start costs no call.
 */
export class Past {
  private readonly deps: PastDeps;
  private readonly proven = new Set<string>();
  private readonly looking = new Set<string>();
  private stopped = false;

  constructor(deps: PastDeps) {
    this.deps = deps;
  }

  isProven(namespace: string): boolean {
    return this.proven.has(namespace);
  }

  /** From here on nothing follows from what is found. */
  stop(): void {
    this.stopped = true;
  }

  /** The live jobs of a namespace were listed. Never rejects; what could not be read is looked at again. */
  async look(namespace: string, stubs: readonly JobStub[]): Promise<void> {
    if (this.stopped || this.proven.has(namespace) || this.looking.has(namespace)) return;
    this.looking.add(namespace);
    try {
      const problem = await this.problemOf(namespace, stubs);
      if (this.stopped) return;
      this.proven.add(namespace);
      if (problem === undefined) return this.deps.onProven(namespace);
      await this.deps.store.markRestored(problem);
      this.deps.log.error("the database is older than what it did: nops only looks until a person accepts it", {
        cause: problem,
        cure: "nops restore --accept, then restart nops",
      });
      this.deps.onOlder();
    } catch (error) {
      if (this.stopped) return;
      this.proven.delete(namespace);
      this.deps.log.warn("whether the database is up to date cannot be told yet", { namespace, error: messageOf(error) });
      this.deps.again(namespace);
    } finally {
      this.looking.delete(namespace);
    }
  }

  private async problemOf(namespace: string, stubs: readonly JobStub[]): Promise<string | undefined> {
    const live = new Map(stubs.map((stub) => [stub.ID, stub.JobModifyIndex] as const));
    for (const record of await this.deps.store.jobsOnRecord(namespace)) {
      if ((live.get(splitJobKey(record.key).jobId) ?? 0) <= record.seenIndex) continue;
      const problem = await this.unknownVersion(record);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Somebody registered the job since. If it was a deployment that the database does not know to have got so far, it forgot. */
  private async unknownVersion({ key, newestDeployment, seenIndex }: JobOnRecord): Promise<string | undefined> {
    for (const { Version, JobModifyIndex } of await this.deps.nomad.jobVersions(key)) {
      if (JobModifyIndex <= seenIndex) continue;
      const id = deploymentIn(await this.deps.nomad.readSubmission(key, Version));
      if (id === undefined || !isUlid(id)) continue;
      if ((await this.isForgotten(id, newestDeployment)) && !(await this.isAccepted(id)))
        return `${words(key)} was registered as version ${Version} by deployment ${id}, of which the database does not know that`;
    }
    return undefined;
  }

  /** What was done before a person accepted the database counts as known. */
  private async isAccepted(id: string): Promise<boolean> {
    const accepted = await this.deps.store.restoreAcceptedAt();
    return accepted !== undefined && ulidTime(id) <= Date.parse(accepted);
  }

  /** The newest deployment of a job is always kept, so an unknown newer one was made after this copy; an unknown older one was removed. */
  private async isForgotten(id: string, newest: string): Promise<boolean> {
    const known = await this.deps.store.deployment(id);
    if (known === undefined) return id > newest;
    return known.state === "detected" || known.state === "pending_approval" || known.state === "pre_hook";
  }
}

function words(key: JobKey): string {
  const { namespace, jobId } = splitJobKey(key);
  return `job ${jobId} in namespace ${namespace}`;
}
