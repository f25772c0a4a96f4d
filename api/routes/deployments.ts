import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { allStates } from "../../model/lifecycle.ts";
import { type ApiEnv, type Capability, demand, notFound, permits } from "../auth.ts";
import {
  approveRequest,
  type DeploymentJson,
  deploymentDetailSchema,
  deploymentSchema,
  hookRunSchema,
  rejectRequest,
  resolveHookRequest,
  retryRequest,
} from "../contract.ts";
import type { ApiDependencies } from "../ports.ts";
import { type Api, answers, idParams, jsonBody, listQuery, meta } from "../route.ts";

const path = "/api/v1/deployments/{id}" as const;

/** Deployments: list, one, and people's decisions. */
export function deploymentRoutes(api: Api, dependencies: ApiDependencies): void {
  const { queries } = dependencies;
  const list = z.object({ deployments: z.array(deploymentSchema), next_cursor: z.string().nullable() });
  api.openapi(
    createRoute({
      method: "get",
      path: "/api/v1/deployments",
      ...meta("read", "List deployments, newest first"),
      request: { query: listQuery.extend({ state: z.enum(allStates).optional() }) },
      responses: answers(list),
    }),
    async (context) => {
      const principal = context.get("principal");
      const filter = context.req.valid("query");
      demand(principal, "read", filter.namespace);
      const page = await queries.deployments(definedOnly(filter));
      const deployments = page.items.filter((row) => permits(principal, "read", row.namespace));
      return context.json({ deployments, next_cursor: page.nextCursor }, 200);
    },
  );

  api.openapi(
    createRoute({
      method: "get",
      path: path,
      ...meta("read", "One deployment with diff, hook runs, approvals and events"),
      request: { params: idParams },
      responses: answers(deploymentDetailSchema),
    }),
    async (context) => {
      const { id } = context.req.valid("param");
      const found = await queries.deployment(id);
      if (found === undefined || !permits(context.get("principal"), "read", found.namespace))
        throw notFound(`no deployment "${id}"`);
      return context.json(found, 200);
    },
  );

  deploymentActions(api, dependencies);
  canaryActions(api, dependencies);
  hookActions(api, dependencies);
}

function deploymentActions(api: Api, { queries, commands }: ApiDependencies): void {
  const allowed = (context: Context<ApiEnv>, id: string, capability: Capability) =>
    actorFor(queries.deployment.bind(queries), context, id, capability);

  api.openapi(
    createRoute({
      method: "post",
      path: `${path}/approve`,
      ...meta("approve", "Approve exactly the spec that was seen"),
      request: { params: idParams, body: jsonBody(approveRequest) },
      responses: answers(deploymentSchema),
    }),
    async (context) => {
      const { id } = context.req.valid("param");
      const { spec_hash, comment } = context.req.valid("json");
      return context.json(await commands.approve(id, spec_hash, comment, await allowed(context, id, "approve")), 200);
    },
  );
  api.openapi(
    createRoute({
      method: "post",
      path: `${path}/reject`,
      ...meta("approve", "Reject"),
      request: { params: idParams, body: jsonBody(rejectRequest) },
      responses: answers(deploymentSchema),
    }),
    async (context) => {
      const { id } = context.req.valid("param");
      return context.json(
        await commands.reject(id, context.req.valid("json").comment, await allowed(context, id, "approve")),
        200,
      );
    },
  );
  api.openapi(
    createRoute({
      method: "post",
      path: `${path}/retry`,
      ...meta("retry", "Try a failed or rejected deployment again"),
      request: { params: idParams, body: jsonBody(retryRequest) },
      responses: answers(deploymentSchema),
    }),
    async (context) => {
      const { id } = context.req.valid("param");
      return context.json(await commands.retry(id, context.req.valid("json"), await allowed(context, id, "retry")), 200);
    },
  );
}

function canaryActions(api: Api, { queries, commands }: ApiDependencies): void {
  const action = <const P extends string>(suffix: P, summary: string) =>
    createRoute({
      method: "post",
      path: `${path}${suffix}`,
      ...meta("promote", summary),
      request: { params: idParams },
      responses: answers(deploymentSchema),
    });
  api.openapi(action("/promote", "Promote waiting canaries"), async (context) => {
    const { id } = context.req.valid("param");
    return context.json(
      await commands.promote(id, await actorFor(queries.deployment.bind(queries), context, id, "promote")),
      200,
    );
  });
  api.openapi(action("/fail", "Fail waiting canaries"), async (context) => {
    const { id } = context.req.valid("param");
    return context.json(await commands.fail(id, await actorFor(queries.deployment.bind(queries), context, id, "promote")), 200);
  });
}

function hookActions(api: Api, { queries, commands }: ApiDependencies): void {
  const params = z.object({ id: z.string().min(1), run: z.string().min(1) });
  api.openapi(
    createRoute({
      method: "post",
      path: `${path}/hooks/{run}/resolve`,
      ...meta("resolve", "Settle the unknown outcome of a hook"),
      request: { params, body: jsonBody(resolveHookRequest) },
      responses: answers(hookRunSchema),
    }),
    async (context) => {
      const { id, run } = context.req.valid("param");
      const actor = await actorFor(queries.deployment.bind(queries), context, id, "resolve");
      const detail = await queries.deployment(id);
      if (detail?.hook_runs.every((known) => known.id !== run) ?? true)
        throw notFound(`deployment "${id}" has no hook run "${run}"`);
      return context.json(await commands.resolveHook(run, context.req.valid("json").resolution, actor), 200);
    },
  );
}

async function actorFor(
  read: (id: string) => Promise<DeploymentJson | undefined>,
  context: Context<ApiEnv>,
  id: string,
  capability: Capability,
) {
  const principal = context.get("principal");
  const found = await read(id);
  if (found === undefined || !permits(principal, "read", found.namespace)) throw notFound(`no deployment "${id}"`);
  demand(principal, capability, found.namespace);
  return principal.actor;
}

/** The same filter without absent keys. */
export function definedOnly<T extends object>(filter: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
