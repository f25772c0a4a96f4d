import { type jobKey, splitJobKey } from "../../model/job-key.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";
import type { WorkspaceNomad } from "../../workspace/ports.ts";
import type { CommandIo } from "../io.ts";

/** Nomad as the environment names it: the variables of Nomad's own command line (contract §2). */
export function clientFromEnvironment(io: CommandIo, region: string | undefined): NomadClient {
  const env = io.environment;
  const set = (name: string): string | undefined => ((env[name] ?? "") === "" ? undefined : env[name]);
  return createNomadClient({
    address: set("NOMAD_ADDR") ?? "http://127.0.0.1:4646",
    clock: io.clock,
    random: io.random,
    token: set("NOMAD_TOKEN"),
    region: region ?? set("NOMAD_REGION"),
    tls: {
      caFile: set("NOMAD_CACERT"),
      certFile: set("NOMAD_CLIENT_CERT"),
      keyFile: set("NOMAD_CLIENT_KEY"),
      serverName: set("NOMAD_TLS_SERVER_NAME"),
      skipVerify: ["1", "true"].includes((set("NOMAD_SKIP_VERIFY") ?? "").toLowerCase()),
    },
  });
}

/** Fits a Nomad client to what the workspace asks for. */
export function adaptNomad(client: NomadClient): WorkspaceNomad {
  return {
    ping: async () => void (await client.statusLeader()),
    parse: client.parse,
    plan: (spec, options) => (options?.policyOverride === true ? planOverridden(client, spec) : client.plan(spec)),
    register: (spec, index, submission, options) =>
      options?.policyOverride === true
        ? registerOverridden(client, spec, index)
        : client.register(spec, index, submission ?? { source: JSON.stringify(spec), format: "json", variables: "" }),
    readJob: client.readJob,
    listJobs: async (namespace) => (await client.listJobs(namespace, { meta: true })).jobs,
    listAllocations: client.listAllocations,
    listEvaluations: client.listEvaluations,
    listNomadDeployments: client.listNomadDeployments,
    stopJob: (key, { purge }) => (purge ? client.purgeJob(key) : client.stopJob(key)).catch(absentIsFine),
    dispatch: (parent, request) =>
      request.payload === undefined
        ? client.dispatch(parent, request.token, request.meta)
        : dispatchWithPayload(client, parent, request.token, request.meta, request.payload),
    findDispatched: client.findDispatched,
    reschedule: client.reschedule,
    forcePeriodic: async (key) => void (await client.forcePeriodic(key)),
    async readVariable(namespace, path) {
      const found = await client.getVariable(namespace, path);
      return found === undefined ? undefined : { items: found.Items, modifyIndex: found.ModifyIndex };
    },
    putVariable: async (namespace, path, items, cas) => void (await client.putVariable(namespace, path, items, cas)),
    listVariables: async (namespace, prefix) => (await client.listVariables(namespace, prefix)).map(({ Path }) => Path),
    deleteVariable: (namespace, path) => client.deleteVariable(namespace, path),
    async readNamespace(name) {
      const found = await client.readNamespace(name);
      return found === undefined ? undefined : { ...found };
    },
    putNamespace: (namespace) => client.registerNamespace(namespace),
    readLogTail: client.readLogTail,
  };
}

function absentIsFine(error: unknown): void {
  if (error instanceof Error && "kind" in error && error.kind === "not_found") return;
  throw error;
}

type Spec = Parameters<WorkspaceNomad["plan"]>[0];

/** Sentinel policies exist in Nomad Enterprise only, so the client knows no override. */
async function planOverridden(client: NomadClient, spec: Spec): Promise<Awaited<ReturnType<WorkspaceNomad["plan"]>>> {
  const { value } = await client.transport.call({
    operation: "plan",
    what: `plan job ${spec.ID}`,
    effect: "read",
    method: "PUT",
    path: `/v1/job/${encodeURIComponent(spec.ID)}/plan`,
    body: { Job: spec, Diff: true, PolicyOverride: true },
  });
  const answer = value as { Diff?: never; JobModifyIndex?: number; FailedTGAllocs?: never; Warnings?: string };
  return {
    diff: answer.Diff ?? { Type: "None", ID: spec.ID },
    jobModifyIndex: answer.JobModifyIndex ?? 0,
    failedPlacements: answer.FailedTGAllocs ?? {},
    warnings: answer.Warnings ?? "",
  };
}

async function registerOverridden(client: NomadClient, spec: Spec, index: number): Promise<{ evalId: string; warnings: string }> {
  const { value } = await client.transport.call({
    operation: "register",
    what: `register job ${spec.ID}`,
    effect: "write",
    method: "PUT",
    path: "/v1/jobs",
    body: { Job: spec, EnforceIndex: true, JobModifyIndex: index, PolicyOverride: true },
  });
  const answer = value as { EvalID?: string; Warnings?: string };
  return { evalId: answer.EvalID ?? "", warnings: answer.Warnings ?? "" };
}

/** The operator dispatches without payload; a step may have one. */
async function dispatchWithPayload(
  client: NomadClient,
  parent: ReturnType<typeof jobKey>,
  token: string,
  meta: Readonly<Record<string, string>>,
  payload: Uint8Array,
): Promise<{ childId: string }> {
  const { namespace, jobId } = splitJobKey(parent);
  const { value } = await client.transport.call({
    operation: "dispatch",
    what: `dispatch job ${parent}`,
    effect: "write",
    method: "PUT",
    path: `/v1/job/${encodeURIComponent(jobId)}/dispatch`,
    query: { namespace, idempotency_token: token },
    body: { JobID: jobId, Meta: meta, Payload: Buffer.from(payload).toString("base64") },
    secrets: Object.values(meta),
  });
  return { childId: (value as { DispatchedJobID?: string }).DispatchedJobID ?? "" };
}
