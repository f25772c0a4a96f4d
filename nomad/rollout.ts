import type { JobKey } from "../model/job-key.ts";
import type { AllocationStub, Evaluation, NomadDeployment } from "../model/nomad.ts";
import { jobPath, namespaceOf } from "./paths.ts";
import type { NomadRequest, NomadTransport } from "./transport.ts";

/** The request that reads a list kept under a job; blocking reads use the same (blocking.ts). */
export function jobListRequest(key: JobKey, list: "allocations" | "evaluations" | "deployments"): NomadRequest {
  return {
    operation: `list_${list}`,
    what: `list ${list} of job ${key}`,
    effect: "read",
    method: "GET",
    path: jobPath(key, `/${list}`),
    query: namespaceOf(key),
    shape: "list",
  };
}

/** Newest first: by the index at which each was made. */
export function newestFirst<T extends { readonly CreateIndex: number }>(items: readonly T[]): readonly T[] {
  return [...items].sort((a, b) => b.CreateIndex - a.CreateIndex);
}

/** Allocations of all versions of the live incarnation. Empty when there is no such job. */
export async function listAllocations(transport: NomadTransport, key: JobKey): Promise<readonly AllocationStub[]> {
  const { value } = await transport.call(jobListRequest(key, "allocations"));
  return value as readonly AllocationStub[];
}

/** Evaluations of the job, newest first. */
export async function listEvaluations(transport: NomadTransport, key: JobKey): Promise<readonly Evaluation[]> {
  const { value } = await transport.call(jobListRequest(key, "evaluations"));
  return newestFirst(value as readonly Evaluation[]);
}

/** Nomad deployments of the live incarnation, newest first. */
export async function listNomadDeployments(transport: NomadTransport, key: JobKey): Promise<readonly NomadDeployment[]> {
  const { value } = await transport.call(jobListRequest(key, "deployments"));
  return newestFirst(value as readonly NomadDeployment[]);
}

/** `undefined` when there is none, or it is gone with its job. */
export async function readNomadDeployment(transport: NomadTransport, id: string): Promise<NomadDeployment | undefined> {
  const answer = await transport.call({
    operation: "read_deployment",
    what: `read Nomad deployment ${id}`,
    effect: "read",
    method: "GET",
    path: `/v1/deployment/${encodeURIComponent(id)}`,
    absent: "deployment not found",
  });
  return answer.value as NomadDeployment | undefined;
}

/** `undefined` when there is none, or it was garbage collected. */
export async function readEvaluation(transport: NomadTransport, id: string): Promise<Evaluation | undefined> {
  const answer = await transport.call({
    operation: "read_evaluation",
    what: `read evaluation ${id}`,
    effect: "read",
    method: "GET",
    path: `/v1/evaluation/${encodeURIComponent(id)}`,
    absent: "eval not found",
  });
  return answer.value as Evaluation | undefined;
}

/** Promotes every waiting canary of the deployment. @throws NomadError `not_found`. */
export async function promote(transport: NomadTransport, nomadDeploymentId: string): Promise<void> {
  await transport.call({
    operation: "promote_deployment",
    what: `promote Nomad deployment ${nomadDeploymentId}`,
    effect: "write",
    method: "PUT",
    path: `/v1/deployment/promote/${encodeURIComponent(nomadDeploymentId)}`,
    body: { DeploymentID: nomadDeploymentId, All: true },
  });
}

/** Ends the deployment as failed; with `auto_revert` Nomad goes back by itself. @throws NomadError `not_found`. */
export async function failDeployment(transport: NomadTransport, nomadDeploymentId: string): Promise<void> {
  await transport.call({
    operation: "fail_deployment",
    what: `fail Nomad deployment ${nomadDeploymentId}`,
    effect: "write",
    method: "PUT",
    path: `/v1/deployment/fail/${encodeURIComponent(nomadDeploymentId)}`,
    body: { DeploymentID: nomadDeploymentId },
  });
}
