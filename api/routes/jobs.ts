import { createRoute, z } from "@hono/zod-openapi";
import { jobKey } from "../../model/job-key.ts";
import { syncStates } from "../../model/sync-state.ts";
import { demand, notFound, permits } from "../auth.ts";
import {
  deploymentSchema,
  deployNowRequest,
  explanationSchema,
  jobDetailSchema,
  jobSchema,
  pauseRequest,
  pauseSchema,
} from "../contract.ts";
import type { ApiDependencies } from "../ports.ts";
import { type Api, answers, jobParams, jsonBody, listQuery, meta } from "../route.ts";

const jobPath = "/api/v1/jobs/{namespace}/{job}" as const;

/** Jobs: list, one, its gates, and what people may do to it. */
export function jobRoutes(api: Api, { queries, commands }: ApiDependencies): void {
  jobList(api, queries);
  jobReads(api, queries);
  jobActions(api, commands);
}

function jobList(api: Api, queries: ApiDependencies["queries"]): void {
  const list = z.object({ jobs: z.array(jobSchema), next_cursor: z.string().nullable() });
  api.openapi(
    createRoute({
      method: "get",
      path: "/api/v1/jobs",
      ...meta("read", "List jobs"),
      request: { query: listQuery.extend({ state: z.enum(syncStates).optional() }) },
      responses: answers(list),
    }),
    async (context) => {
      const principal = context.get("principal");
      demand(principal, "read");
      const { namespace, job, repository, state } = context.req.valid("query");
      const jobs = (await queries.jobs()).filter(
        (row) =>
          permits(principal, "read", row.namespace) &&
          (namespace === undefined || row.namespace === namespace) &&
          (job === undefined || row.job === job) &&
          (repository === undefined || row.repository === repository) &&
          (state === undefined || row.sync === state),
      );
      return context.json({ jobs: [...jobs], next_cursor: null }, 200);
    },
  );
}

function jobReads(api: Api, queries: ApiDependencies["queries"]): void {
  api.openapi(
    createRoute({
      method: "get",
      path: jobPath,
      ...meta("read", "One job"),
      request: { params: jobParams },
      responses: answers(jobDetailSchema),
    }),
    async (context) => {
      const { namespace, job } = context.req.valid("param");
      demand(context.get("principal"), "read", namespace);
      const found = await queries.job(jobKey(namespace, job));
      if (found === undefined) throw notFound(`no job "${job}" in namespace "${namespace}"`);
      return context.json(found, 200);
    },
  );

  api.openapi(
    createRoute({
      method: "get",
      path: `${jobPath}/explain`,
      ...meta("read", "Why nops does or does not deploy the job"),
      request: { params: jobParams },
      responses: answers(explanationSchema),
    }),
    async (context) => {
      const { namespace, job } = context.req.valid("param");
      demand(context.get("principal"), "read", namespace);
      const found = await queries.explain(jobKey(namespace, job));
      if (found === undefined) throw notFound(`no job "${job}" in namespace "${namespace}"`);
      return context.json(found, 200);
    },
  );
}

function jobActions(api: Api, commands: ApiDependencies["commands"]): void {
  api.openapi(
    createRoute({
      method: "post",
      path: `${jobPath}/pause`,
      ...meta("pause", "Pause a job"),
      request: { params: jobParams, body: jsonBody(pauseRequest) },
      responses: answers(pauseSchema),
    }),
    async (context) => {
      const { namespace, job } = context.req.valid("param");
      const principal = context.get("principal");
      demand(principal, "pause", namespace);
      return context.json(
        await commands.pauseJob(jobKey(namespace, job), context.req.valid("json").reason, principal.actor),
        200,
      );
    },
  );

  api.openapi(
    createRoute({
      method: "post",
      path: `${jobPath}/resume`,
      ...meta("pause", "Resume a job"),
      request: { params: jobParams },
      responses: answers(pauseSchema),
    }),
    async (context) => {
      const { namespace, job } = context.req.valid("param");
      const principal = context.get("principal");
      demand(principal, "pause", namespace);
      return context.json(await commands.resumeJob(jobKey(namespace, job), principal.actor), 200);
    },
  );

  const lifted = z.object({ deployment: deploymentSchema.nullable() });
  api.openapi(
    createRoute({
      method: "post",
      path: `${jobPath}/deploy-now`,
      ...meta("deploy-now", "Lift the closed sync window once"),
      request: { params: jobParams, body: jsonBody(deployNowRequest) },
      responses: answers(lifted),
    }),
    async (context) => {
      const { namespace, job } = context.req.valid("param");
      const principal = context.get("principal");
      demand(principal, "deploy-now", namespace);
      const deployment = await commands.deployNow(jobKey(namespace, job), context.req.valid("json").spec_hash, principal.actor);
      return context.json({ deployment }, 200);
    },
  );
}
