import type { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { equalSecretly } from "../../model/equal-secretly.ts";
import type { ApiEnv } from "../auth.ts";
import { ApiError } from "../errors.ts";
import type { ApiDependencies } from "../ports.ts";

const maxWebhookBytes = 1024 * 1024;
const signatureHint = "the forge signs with the text of the repository's webhook_secret_file";
const webhookHint = "the path is /webhook/NAME, of a repository that has a webhook_secret_file";

/** Routes of the process itself: probes, version, metrics, webhooks. None needs an API token. */
export function processRoutes(app: Hono<ApiEnv>, { probes, webhooks }: ApiDependencies): void {
  app.get("/healthz", async (context) => {
    const healthy = await probes.healthy();
    return context.text(healthy ? `ok ${probes.version}\n` : "unhealthy\n", healthy ? 200 : 500);
  });

  app.get("/readyz", async (context) => {
    const { ready, reasons } = await probes.ready();
    return context.json({ ready, reasons }, ready ? 200 : 503);
  });

  app.get("/version", (context) => context.json({ version: probes.version }));

  app.get("/metrics", async (context) => {
    const expected = probes.metricsToken();
    if (expected !== undefined && !equalSecretly(context.req.header("authorization") ?? "", `Bearer ${expected}`)) {
      throw new ApiError(401, "unauthenticated", "metrics ask for a token");
    }
    const page = await probes.metrics();
    return context.body(page.body, 200, { "content-type": page.contentType });
  });

  app.post("/webhook/:repository", bodyLimit({ maxSize: maxWebhookBytes, onError: tooLarge }), async (context) => {
    if (context.req.header("content-encoding") !== undefined)
      throw new ApiError(415, "unsupported_encoding", "the body must not be compressed");
    const body = new Uint8Array(await context.req.arrayBuffer());
    const result = await webhooks.receive(context.req.param("repository"), context.req.header(), body);
    if (result === "refused") throw new ApiError(401, "unauthenticated", "the signature is not valid", { hint: signatureHint });
    if (result === "unknown") throw new ApiError(404, "not_found", "no such webhook", { hint: webhookHint });
    return context.json({ accepted: true }, 202);
  });
}

function tooLarge(): never {
  throw new ApiError(413, "too_large", "the body is too large");
}
