import { createRoute, z } from "@hono/zod-openapi";
import { demand, demandEverywhere } from "../auth.ts";
import { fetchRequest, pauseRequest, pauseSchema, statusSchema } from "../contract.ts";
import type { ApiDependencies } from "../ports.ts";
import { type Api, accepted, answers, jsonBody, meta } from "../route.ts";

/** What concerns all jobs: the pause of every job, fetching, and the state of nops itself. */
export function operationRoutes(api: Api, { queries, commands }: ApiDependencies): void {
  pauseRoutes(api, queries, commands);
  fetchRoute(api, commands);
  statusRoute(api, queries);
}

function pauseRoutes(api: Api, queries: ApiDependencies["queries"], commands: ApiDependencies["commands"]): void {
  api.openapi(
    createRoute({
      method: "get",
      path: "/api/v1/pause",
      ...meta("read", "The pause of every job"),
      responses: answers(pauseSchema),
    }),
    async (context) => {
      demand(context.get("principal"), "read");
      return context.json(await queries.pause(), 200);
    },
  );

  api.openapi(
    createRoute({
      method: "post",
      path: "/api/v1/pause",
      ...meta("pause", "Pause every job"),
      request: { body: jsonBody(pauseRequest) },
      responses: answers(pauseSchema),
    }),
    async (context) => {
      const principal = context.get("principal");
      demandEverywhere(principal, "pause");
      return context.json(await commands.pauseAll(context.req.valid("json").reason, principal.actor), 200);
    },
  );

  api.openapi(
    createRoute({
      method: "post",
      path: "/api/v1/resume",
      ...meta("pause", "Resume every job"),
      responses: answers(pauseSchema),
    }),
    async (context) => {
      const principal = context.get("principal");
      demandEverywhere(principal, "pause");
      return context.json(await commands.resumeAll(principal.actor), 200);
    },
  );
}

function fetchRoute(api: Api, commands: ApiDependencies["commands"]): void {
  api.openapi(
    createRoute({
      method: "post",
      path: "/api/v1/fetch",
      ...meta("fetch", "Look at repositories now"),
      request: { body: jsonBody(fetchRequest) },
      responses: accepted(z.object({ accepted: z.literal(true) })),
    }),
    async (context) => {
      const principal = context.get("principal");
      demand(principal, "fetch");
      const { repository, accept } = context.req.valid("json");
      await commands.fetch(repository, accept ?? false, principal.actor);
      return context.json({ accepted: true as const }, 202);
    },
  );
}

function statusRoute(api: Api, queries: ApiDependencies["queries"]): void {
  api.openapi(
    createRoute({
      method: "get",
      path: "/api/v1/status",
      ...meta("read", "Repositories, Nomad, loops, counts, version"),
      responses: answers(statusSchema),
    }),
    async (context) => {
      demand(context.get("principal"), "read");
      return context.json(await queries.status(), 200);
    },
  );
}
