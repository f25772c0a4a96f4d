import type { JobKey } from "../model/job-key.ts";
import { jobKey, splitJobKey } from "../model/job-key.ts";
import type { JobStub } from "../model/nomad.ts";

/**
 * What the watch told about live jobs: the JobModifyIndex of each. Not a cache of jobs, only the answer to "did it change since
 * the last verdict", so that an unchanged job costs no call (design D5).
 *
 * I1. A key of a namespace that was never listed has no index. I2. A doubtful key has no index until it is set again.
 */
export class LiveIndex {
  private readonly byNamespace = new Map<string, Map<JobKey, JobStub>>();
  private readonly newer = new Map<JobKey, number>();
  private readonly doubtful = new Set<JobKey>();
  private readonly listedTimes = new Map<string, number>();

  /** A full list was read: returns the keys whose index is another than before, those that vanished included. */
  listed(namespace: string, jobs: readonly JobStub[], at: number): JobKey[] {
    const before = this.byNamespace.get(namespace) ?? new Map<JobKey, JobStub>();
    const after = new Map(jobs.map((stub) => [jobKey(stub.Namespace, stub.ID), stub]));
    const changed = [...new Set([...before.keys(), ...after.keys(), ...this.keysOf(namespace)])].filter(
      (key) => this.index(key) !== (after.get(key)?.JobModifyIndex ?? 0),
    );
    for (const key of this.keysOf(namespace)) this.newer.delete(key);
    for (const key of [...this.doubtful]) if (splitJobKey(key).namespace === namespace) this.doubtful.delete(key);
    this.byNamespace.set(namespace, after);
    this.listedTimes.set(namespace, at);
    return changed;
  }

  private keysOf(namespace: string): JobKey[] {
    return [...this.newer.keys()].filter((key) => splitJobKey(key).namespace === namespace);
  }

  /** An event or an answer told the index; 0: the job is gone. `true` when it is news. */
  note(key: JobKey, index: number): boolean {
    const before = this.index(key);
    this.doubtful.delete(key);
    this.newer.set(key, index);
    return before !== index;
  }

  /** The key must be looked at anew, whatever its index. */
  doubt(key: JobKey): void {
    this.doubtful.add(key);
  }

  /** JobModifyIndex of the live job, 0 when there is none, `undefined` when that is not known. */
  index(key: JobKey): number | undefined {
    if (this.doubtful.has(key)) return undefined;
    const newer = this.newer.get(key);
    if (newer !== undefined) return newer;
    const { namespace } = splitJobKey(key);
    const listed = this.byNamespace.get(namespace);
    return listed === undefined ? undefined : (listed.get(key)?.JobModifyIndex ?? 0);
  }

  /** The job's line in the last list; older than `index` when that moved since. */
  stub(key: JobKey): JobStub | undefined {
    return this.byNamespace.get(splitJobKey(key).namespace)?.get(key);
  }

  isListed(namespace: string): boolean {
    return this.byNamespace.has(namespace);
  }

  /** ms since the epoch. */
  listedAt(namespace: string): number | undefined {
    return this.listedTimes.get(namespace);
  }

  size(namespace: string): number {
    return this.byNamespace.get(namespace)?.size ?? 0;
  }
}
