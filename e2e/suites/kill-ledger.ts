/** What a Nomad itself says was done to it, gathered between the lives of the process under test. Knows nothing of its database. */
import type { NomadCaller } from "./nomad-caller.ts";

/** One version that a job had. */
export interface RegisteredVersion {
  readonly job: string;
  readonly version: number;
  readonly index: number;
  /** Deployment named by the first line of its source; `undefined` when somebody else registered it. */
  readonly deployment: string | undefined;
}

export interface DispatchedChild {
  readonly id: string;
  readonly parent: string;
  readonly token: string;
}

interface VersionRead {
  readonly Version: number;
  readonly JobModifyIndex: number;
}

/** Nomad keeps six versions of a job, so they are written down after each life. */
export class NomadLedger {
  readonly #call: NomadCaller;
  readonly #versions = new Map<string, RegisteredVersion[]>();
  readonly #outside = new Set<string>();

  constructor(call: NomadCaller) {
    this.#call = call;
  }

  /** The version at this index was made by the test and not by nops. */
  noteOutside(job: string, index: number): void {
    this.#outside.add(`${job}@${index}`);
  }

  /** @throws when a version came and went between two looks: then nobody could count. */
  async look(jobs: readonly string[]): Promise<void> {
    await Promise.all(jobs.map((job) => this.#lookAt(job)));
  }

  /** All versions of a job, oldest first. */
  versionsOf(job: string): readonly RegisteredVersion[] {
    return this.#versions.get(job) ?? [];
  }

  /** Every run of every hook that was dispatched. */
  async children(): Promise<readonly DispatchedChild[]> {
    const stubs = await this.#call<readonly { ID: string; ParentID: string }[]>("GET", "/v1/jobs");
    const children: DispatchedChild[] = [];
    for (const { ID, ParentID } of stubs.filter((stub) => stub.ParentID !== "")) {
      const job = await this.#call<{ DispatchIdempotencyToken: string }>("GET", `/v1/job/${encodeURIComponent(ID)}`);
      children.push({ id: ID, parent: ParentID, token: job.DispatchIdempotencyToken });
    }
    return children;
  }

  async #lookAt(job: string): Promise<void> {
    const known = this.versionsOf(job);
    const next = (known.at(-1)?.version ?? -1) + 1;
    const read = await this.#call<{ Versions: readonly VersionRead[] }>("GET", `/v1/job/${job}/versions`).catch(() => undefined);
    const fresh = (read?.Versions ?? []).filter(({ Version }) => Version >= next).toReversed();
    if (fresh.length > 0 && fresh[0]?.Version !== next)
      throw new Error(`${job}: version ${next} was not seen before Nomad forgot it`);
    const found: RegisteredVersion[] = [];
    for (const { Version, JobModifyIndex } of fresh) {
      const outside = this.#outside.has(`${job}@${JobModifyIndex}`);
      found.push({
        job,
        version: Version,
        index: JobModifyIndex,
        deployment: outside ? undefined : await this.#stamp(job, Version),
      });
    }
    this.#versions.set(job, [...known, ...found]);
  }

  async #stamp(job: string, version: number): Promise<string | undefined> {
    const submission = await this.#call<{ Source: string }>("GET", `/v1/job/${job}/submission?version=${version}`).catch(
      () => undefined,
    );
    return /^# nops: deployment=(\w+)/.exec(submission?.Source ?? "")?.[1];
  }
}
