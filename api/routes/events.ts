import { createRoute, z } from "@hono/zod-openapi";
import { streamSSE } from "hono/streaming";
import { demand, permits, permitsEverywhere, principalOf } from "../auth.ts";
import { type EventJson, eventSchema } from "../contract.ts";
import type { ApiDependencies, Principal } from "../ports.ts";
import { type Api, answers, listQuery, meta } from "../route.ts";
import { definedOnly } from "./deployments.ts";

const batchSize = 200;
const keepAliveMs = 15_000;

/** The audit log: as a list, and as a live stream that resumes by `Last-Event-ID`. */
export function eventRoutes(api: Api, dependencies: ApiDependencies): void {
  const { queries, authenticator, stopping } = dependencies;
  const list = z.object({ events: z.array(eventSchema), next_cursor: z.string().nullable() });
  api.openapi(
    createRoute({
      method: "get",
      path: "/api/v1/events",
      ...meta("read", "Audit log, newest first"),
      request: { query: listQuery },
      responses: answers(list),
    }),
    async (context) => {
      const principal = context.get("principal");
      const filter = context.req.valid("query");
      demand(principal, "read", filter.namespace);
      const page = await queries.events(definedOnly(filter));
      return context.json({ events: page.items.filter((event) => mayRead(principal, event)), next_cursor: page.nextCursor }, 200);
    },
  );

  api.get("/api/v1/events/stream", (context) => {
    const principal = context.get("principal");
    demand(principal, "read");
    const credentials = context.get("credentials");
    return streamSSE(context, async (stream) => {
      let last = Number(context.req.header("last-event-id") ?? Number.NaN);
      if (!Number.isSafeInteger(last)) last = await queries.lastEventId();
      const wake = wakeable(queries.onEvents.bind(queries), keepAliveMs);
      stream.onAbort(wake.stop);
      stopping.addEventListener("abort", wake.stop, { once: true });
      while (!stream.aborted && !stopping.aborted) {
        // A token that was revoked or a session that ended must not keep its stream (S24): rights are asked again before each batch.
        const current = await principalOf(authenticator, credentials, "watch");
        if (current === undefined || !permits(current, "read")) break;
        const events = await queries.eventsAfter(last, batchSize);
        for (const event of events) {
          last = event.id;
          if (mayRead(current, event))
            await stream.writeSSE({ id: String(event.id), event: event.kind, data: JSON.stringify(event) });
        }
        if (events.length === 0 && !(await wake.next())) await stream.write(": keep-alive\n\n");
      }
      wake.stop();
      stopping.removeEventListener("abort", wake.stop);
    });
  });
}

/** Events without a namespace (tokens, repositories, the pause of all) are for those who may read everywhere. */
function mayRead(principal: Principal, event: EventJson): boolean {
  return event.namespace === null ? permitsEverywhere(principal, "read") : permits(principal, "read", event.namespace);
}

/** Waits for a wake-up that may come while nobody waits yet. `next` is false when only the time ran out. */
function wakeable(subscribe: (wake: () => void) => () => void, timeoutMs: number) {
  let pending = false;
  let resolveNext: ((woken: boolean) => void) | undefined;
  const wake = (): void => {
    pending = true;
    resolveNext?.(true);
  };
  const unsubscribe = subscribe(wake);
  return {
    next: (): Promise<boolean> => {
      if (pending) {
        pending = false;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const timer = setTimeout(() => finish(false), timeoutMs);
        const finish = (woken: boolean): void => {
          clearTimeout(timer);
          resolveNext = undefined;
          pending = false;
          resolve(woken);
        };
        resolveNext = finish;
      });
    },
    stop: (): void => {
      unsubscribe();
      wake();
    },
  };
}
