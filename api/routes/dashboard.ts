import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Hono } from "hono";
import type { ApiEnv } from "../auth.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The built web app. Assets carry a content hash in their name and may be kept; the page itself is always asked for. */
export function dashboardRoutes(app: Hono<ApiEnv>, directory: string): void {
  const page = readFileSync(join(directory, "index.html"), "utf8");
  app.get("/assets/:name{[A-Za-z0-9_.-]+}", (context) => {
    const name = context.req.param("name");
    const contentType = contentTypes[extname(name)];
    const content = contentType === undefined || name.startsWith(".") ? undefined : readAsset(join(directory, "assets", name));
    if (content === undefined || contentType === undefined) return context.notFound();
    return context.body(content, 200, { "content-type": contentType, "cache-control": "public, max-age=31536000, immutable" });
  });
  // Views are paths of the app, not hashes, so that a link to a deployment can be shared.
  for (const path of ["/", "/login", "/jobs", "/jobs/*", "/deployments/*", "/activity", "/events", "/status"])
    app.get(path, (context) => context.html(page));
}

function readAsset(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(readFileSync(path));
  } catch {
    return undefined;
  }
}
