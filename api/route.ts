/** How a route is declared: path, permission and shapes in one place, so that none can be added without a permission (S29). */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiEnv, Capability } from "./auth.ts";
import { errorSchema } from "./contract.ts";

export type Api = OpenAPIHono<ApiEnv>;

export const jobParams = z.object({ namespace: z.string().min(1), job: z.string().min(1) });
export const idParams = z.object({ id: z.string().min(1).max(64) });

const listShape = {
  limit: z.coerce.number({ error: "must be a whole number from 1 to 500" }).int().min(1).max(500).default(50),
  cursor: z.string().max(200).optional(),
  namespace: z.string().max(128).optional(),
  job: z.string().max(512).optional(),
  state: z.string().max(32).optional(),
  repository: z.string().max(64).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
};
export const listQuery = z.object(listShape);

const errorResponses = Object.fromEntries(
  [400, 401, 403, 404, 409, 429, 500, 503].map((status) => [
    status,
    { description: errorMeaning(status), content: { "application/json": { schema: errorSchema } } },
  ]),
);

function errorMeaning(status: number): string {
  const meanings: Readonly<Record<number, string>> = {
    400: "The request is wrong",
    401: "No valid token or session",
    403: "The right is missing",
    404: "Does not exist, or may not be seen",
    409: "A rule refuses it; the code says which",
    429: "Too many requests",
    500: "nops failed; its log says why",
    503: "Nomad or the repository cannot be reached",
  };
  return meanings[status] ?? "";
}

/** What every declaration says of itself: the capability its handler demands, and a sentence. `any`: whoever proved who they are. */
export function meta(capability: Capability | "any", summary: string) {
  return { summary, "x-capability": capability, security: [{ bearer: [] as string[] }, { session: [] as string[] }] };
}

/** The same for what is there before anybody proved anything. */
export function openMeta(summary: string) {
  return { summary, "x-capability": "none", security: [] };
}

interface JsonAnswer<T extends z.ZodType> {
  readonly description: string;
  readonly content: { readonly "application/json": { readonly schema: T } };
}

/** The answers of a route that succeeds with 200. Errors are the same everywhere and are declared along. */
export function answers<T extends z.ZodType>(schema: T): { readonly 200: JsonAnswer<T> } {
  return { 200: jsonAnswer(schema), ...errorResponses };
}

/** The same for a route that only accepts the wish. */
export function accepted<T extends z.ZodType>(schema: T): { readonly 202: JsonAnswer<T> } {
  return { 202: jsonAnswer(schema), ...errorResponses };
}

function jsonAnswer<T extends z.ZodType>(schema: T): JsonAnswer<T> {
  return { description: "Done", content: { "application/json": { schema } } };
}

/** The JSON body of a request; an absent body counts as `{}` where everything is optional. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { content: { "application/json": { schema } }, required: true } as const;
}
