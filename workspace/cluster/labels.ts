import { RefusedError } from "../../model/errors.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import type { JobSpec, JobStub, LiveJob } from "../../model/nomad.ts";
import type { WorkspaceNomad } from "../ports.ts";

/** Job meta by which the workspace finds its jobs again (workspace §M6). Put into the parsed job, never into the file. */
export const labels = {
  project: "nops.project",
  service: "nops.service",
  daemonId: "nops.daemon.id",
  daemonParams: "nops.daemon.params",
  daemonRemove: "nops.daemon.auto_remove",
} as const;

/**
 * The job with the workspace's labels.
 * @throws RefusedError `operator_owned` for a job that the operator manages: one owner for a job (design D3).
 */
export function withLabels(spec: JobSpec, own: Readonly<Record<string, string>>): JobSpec {
  refuseManaged(spec, "remove nops_managed from the job file, or deploy the job through git");
  return { ...spec, Meta: { ...spec.Meta, ...own } };
}

/** @throws RefusedError `operator_owned` when the operator deployed the job that runs (design D3). */
export function refuseOperatorOwned(live: LiveJob): void {
  refuseManaged(live, "give the job of the workspace another name, or take this one out of the operator's git and stop it first");
}

function refuseManaged(job: JobSpec, hint: string): void {
  if (job.Meta?.nops_managed !== "true") return;
  const message = `job "${job.ID}" is managed by the operator (meta nops_managed = "true")`;
  throw new RefusedError(message, { code: "operator_owned", hint });
}

/** A job of the project as the list shows it. */
export interface LabelledJob {
  readonly key: JobKey;
  readonly stub: JobStub;
  readonly service: string | undefined;
  readonly daemonId: string | undefined;
  /** Its allocations run or will run: neither stopped nor dead. */
  readonly active: boolean;
}

/** All jobs that carry the project's label, in every namespace that the token may see. Children of batch parents included. */
export async function projectJobs(nomad: WorkspaceNomad, project: string): Promise<readonly LabelledJob[]> {
  if (project === "") throw new RefusedError("the project has no name", { code: "no_project" });
  const stubs = await nomad.listJobs("*");
  return stubs
    .filter((stub) => stub.Meta?.[labels.project] === project)
    .map((stub) => ({
      key: jobKey(stub.Namespace, stub.ID),
      stub,
      service: stub.Meta?.[labels.service],
      daemonId: stub.Meta?.[labels.daemonId],
      active: !stub.Stop && stub.Status !== "dead",
    }));
}
