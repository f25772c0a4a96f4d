/** One operator over one Nomad for a whole suite: helpers to commit, wait and look. */
import type { DeploymentDetailJson, DeploymentJson, JobDetailJson } from "../../api/contract.ts";
import { type LiveOperator, startLiveOperator } from "../../testkit/live-operator.ts";
import { nomadCaller } from "./nomad-caller.ts";

export interface SuiteWorld {
  readonly nops: LiveOperator;
  /** Commits files (`null` removes one) and lets nops look. Returns the commit. */
  commit(files: Readonly<Record<string, string | null>>): Promise<string>;
  job(id: string, namespace?: string): Promise<JobDetailJson>;
  untilJob(id: string, satisfied: (job: JobDetailJson) => boolean, namespace?: string): Promise<JobDetailJson>;
  /** The newest deployment of a job, once it satisfies. */
  untilDeployment(id: string, satisfied: (deployment: DeploymentJson) => boolean, namespace?: string): Promise<DeploymentJson>;
  deployment(id: string): Promise<DeploymentDetailJson>;
  /** Status and error code of a request that is to be refused. */
  refusal(path: string, body?: unknown): Promise<{ readonly status: number; readonly code: string }>;
  /** Asks Nomad itself. */
  nomad<T>(method: string, path: string, body?: unknown): Promise<T>;
  stop(): Promise<void>;
}

export async function startSuiteWorld(address: string, flags: Readonly<Record<string, string>> = {}): Promise<SuiteWorld> {
  const nops = await startLiveOperator({ nomad: address, files: { "README.md": "jobs\n" }, flags });
  const deploymentsOf = (id: string, namespace: string): string => `/api/v1/deployments?job=${id}&namespace=${namespace}&limit=1`;
  return {
    nops,
    commit: async (files) => {
      const sha = await nops.repository.commit({ files });
      await nops.post("/api/v1/fetch");
      return sha;
    },
    job: (id, namespace = "default") => nops.get(`/api/v1/jobs/${namespace}/${id}`),
    untilJob: (id, satisfied, namespace = "default") => untilFound(nops, `/api/v1/jobs/${namespace}/${id}`, satisfied),
    untilDeployment: async (id, satisfied, namespace = "default") => {
      const page = await nops.until<{ deployments: DeploymentJson[] }>(
        deploymentsOf(id, namespace),
        ({ deployments: [newest] }) => newest !== undefined && satisfied(newest),
        60_000,
      );
      return page.deployments[0] as DeploymentJson;
    },
    deployment: (id) => nops.get(`/api/v1/deployments/${id}`),
    refusal: async (path, body = {}) => {
      const response = await fetch(`${nops.address}${path}`, {
        method: "POST",
        headers: { authorization: "Bearer live-operator-token", "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { error?: { code: string } };
      return { status: response.status, code: answer.error?.code ?? "" };
    },
    nomad: nomadCaller(address),
    stop: () => nops.stop(),
  };
}

/** A job is unknown until the commit that brings it was read. */
function untilFound(nops: LiveOperator, path: string, satisfied: (job: JobDetailJson) => boolean): Promise<JobDetailJson> {
  return nops
    .until<{ jobs: JobDetailJson[] }>(
      "/api/v1/jobs",
      ({ jobs }) => jobs.some((job) => path.endsWith(`/${job.namespace}/${job.job}`) && satisfied(job)),
      60_000,
    )
    .then(() => nops.get(path));
}
