import type { JobKey } from "../model/job-key.ts";
import { jobKey, splitJobKey } from "../model/job-key.ts";
import type { JobStub } from "../model/nomad.ts";
import type { NomadSignal } from "./ports.ts";

type ListedJobs = Omit<Extract<NomadSignal, { readonly kind: "listed" }>, "kind">;

/**
 * What the watch told about live jobs: the JobModifyIndex of each. Not a cache of jobs, only the answer to "did it change since
 * the last verdict", so that an unchanged job costs no call (design D5).
 *
 * I1. A key of a namespace that was never listed has no index. I2. A doubtful key has no index until it is set again.
 */
export class LiveIndex {
  private readonly byNamespace = new Map<string, Map<JobKey, JobStub>>();
  /** What was told since, with the raft index of the telling. */
  private readonly newer = new Map<JobKey, { readonly index: number; readonly at: number }>();
  private readonly doubtful = new Set<JobKey>();
  private readonly listedTimes = new Map<string, number>();

  /**
   * A full list was read: returns the keys whose index is another than before, those that vanished included.
   * An event later than the list stays true. After Nomad's index went back nothing does: every key is doubtful, since another
   * past may have another job at the same index (nomad-api §17).
   */
  listed({ namespace, jobs, index: listIndex, wentBack }: ListedJobs, at: number): JobKey[] {
    const before = this.byNamespace.get(namespace) ?? new Map<JobKey, JobStub>();
    const after = new Map(jobs.map((stub) => [jobKey(stub.Namespace, stub.ID), stub]));
    const told = [...this.newer.keys()].filter((key) => splitJobKey(key).namespace === namespace);
    const keys = new Set([...before.keys(), ...after.keys(), ...told]);
    const indexes = new Map([...keys].map((key) => [key, this.index(key)]));
    for (const key of told) if (wentBack || (this.newer.get(key)?.at ?? 0) <= listIndex) this.newer.delete(key);
    for (const key of [...this.doubtful]) if (splitJobKey(key).namespace === namespace) this.doubtful.delete(key);
    this.byNamespace.set(namespace, after);
    this.listedTimes.set(namespace, at);
    if (!wentBack) return [...keys].filter((key) => indexes.get(key) !== this.index(key));
    for (const key of after.keys()) this.doubt(key);
    return [...keys];
  }

  /** An event or an answer told the job's index; 0: it is gone. `toldAt`: raft index of the telling. `true` when it is news. */
  note(key: JobKey, index: number, toldAt = index): boolean {
    const before = this.index(key);
    this.doubtful.delete(key);
    this.newer.set(key, { index, at: toldAt });
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
    if (newer !== undefined) return newer.index;
    const { namespace } = splitJobKey(key);
    const listed = this.byNamespace.get(namespace);
    return listed === undefined ? undefined : (listed.get(key)?.JobModifyIndex ?? 0);
  }

  /** The job's line in the last list; older than `index` when that moved since. */
  stub(key: JobKey): JobStub | undefined {
    return this.byNamespace.get(splitJobKey(key).namespace)?.get(key);
  }

  /** Lines of the last list of a namespace. */
  stubs(namespace: string): readonly JobStub[] {
    return [...(this.byNamespace.get(namespace)?.values() ?? [])];
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
