import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ConflictError, NomadError, RefusedError } from "../model/errors.ts";
import type { JobKey } from "../model/job-key.ts";
import { aPrincipal, at, type FakeApi, fakeApi, tokens } from "../testkit/fake-api.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import type { EventJson } from "./contract.ts";
import type { ApiDependencies } from "./ports.ts";
import { createApi } from "./server.ts";

let fake: FakeApi;

function call(
  path: string,
  options: {
    readonly method?: string;
    readonly token?: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
  } = {},
  overrides: Partial<ApiDependencies> = {},
) {
  const headers: Record<string, string> = { ...options.headers };
  if (options.token !== undefined) headers["authorization"] = `Bearer ${options.token}`;
  if (options.body !== undefined) headers["content-type"] ??= "application/json";
  const body = options.body === undefined ? null : typeof options.body === "string" ? options.body : JSON.stringify(options.body);
  return createApi(fake.dependencies(overrides)).request(path, { method: options.method ?? "GET", headers, body });
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

beforeEach(() => {
  fake = fakeApi();
});

describe("permissions", () => {
  it("every declared route names the capability it demands, or that it demands none (S29)", async () => {
    const app = createApi(fake.dependencies());
    const document = (await (
      await app.request("/api/v1/openapi.json", { headers: { authorization: "Bearer reader" } })
    ).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(operations.length).toBeGreaterThan(21);
    for (const { path, method, operation } of operations) {
      expect(operation["x-capability"], `${method} ${path}`).toBeTypeOf("string");
      expect(operation["x-capability"] === "none", `${method} ${path}`).toBe(path.startsWith("/auth/"));
      expect(operation["security"], `${method} ${path}`).toEqual(
        path.startsWith("/auth/") ? [] : [{ bearer: [] }, { session: [] }],
      );
    }
  });

  it("without any credentials exactly the known routes answer, and nothing else does (S27, S29)", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "index.html"), "<!doctype html>");
    const app = createApi(fake.dependencies({ dashboardDir: folder }));
    const routes = new Set(app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`));
    expect(routes.size).toBeGreaterThan(35);
    const open: string[] = [];
    for (const route of routes) {
      const [method = "", path = ""] = route.split(" ");
      const response = await app.request(path.replace(/:\w+(\{[^}]+\}\+?)?|\*/g, "x"), { method });
      if (response.status !== 401) open.push(route);
    }
    expect(open.sort()).toEqual(
      [
        ...["healthz", "readyz", "version", "metrics", "auth/options", "auth/oidc", "auth/callback"].map(
          (path) => `GET /${path}`,
        ),
        ...["webhook/:repository", "auth/local", "auth/nomad", "auth/logout"].map((path) => `POST /${path}`),
        ...["", "login", "jobs", "jobs/*", "deployments/*", "activity", "events", "status"].map((path) => `GET /${path}`),
        "GET /assets/:name{[A-Za-z0-9_.-]+}",
      ].sort(),
    );
  });

  it.each([
    ["reader", "/api/v1/deployments/01D/approve", { spec_hash: "hash" }, 403],
    ["approver", "/api/v1/deployments/01D/approve", { spec_hash: "hash" }, 200],
    ["approver", "/api/v1/deployments/01D/retry", {}, 403],
    ["admin", "/api/v1/deployments/01D/retry", {}, 200],
    ["elsewhere", "/api/v1/deployments/01D/approve", { spec_hash: "hash" }, 404],
    ["elsewhere", "/api/v1/pause", { reason: "r" }, 403],
    ["admin", "/api/v1/pause", { reason: "r" }, 200],
    ["reader", "/api/v1/fetch", {}, 403],
    ["admin", "/api/v1/fetch", {}, 202],
    ["unknown-token", "/api/v1/fetch", {}, 401],
  ])("%s posting to %s is answered as its rights say", async (token, path, body, status) => {
    expect((await call(path, { method: "POST", token, body })).status).toBe(status);
  });

  it("no GET changes anything, whoever asks and however often (S22)", async () => {
    const document = (await (await call("/api/v1/openapi.json", { token: "admin" })).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const reads = Object.entries(document.paths).filter(([, methods]) => "get" in methods);
    expect(reads.length).toBeGreaterThanOrEqual(8);
    fake.calls.length = 0;
    for (const [path] of [...reads, ...reads]) await call(path.replace(/\{\w+\}/g, "x"), { token: "admin" });
    for (const path of ["/healthz", "/readyz", "/version", "/metrics"]) await call(path);
    // Whoever reads asks questions only: every other call is a command.
    expect(fake.calls.filter(([name]) => name !== "deployments")).toEqual([]);
  });

  it("a wrong token never falls back to anonymous rights", async () => {
    const anonymous = { authenticator: { ...fake.dependencies().authenticator, anonymous: aPrincipal(["read"]) } };
    expect((await call("/api/v1/deployments", {}, anonymous)).status).toBe(200);
    expect((await call("/api/v1/deployments", { token: "wrong" }, anonymous)).status).toBe(401);
  });

  it("hides deployments of namespaces that may not be read", async () => {
    const page = (await (await call("/api/v1/deployments", { token: "elsewhere" })).json()) as { deployments: unknown[] };
    expect(page.deployments).toEqual([]);
    expect((await call("/api/v1/deployments/01D", { token: "elsewhere" })).status).toBe(404);
  });
});

describe("requests", () => {
  it("hands hash, comment and actor of an approval on", async () => {
    await call("/api/v1/deployments/01D/approve", {
      method: "POST",
      token: "approver",
      body: { spec_hash: "hash", comment: "ok" },
    });
    expect(fake.calls).toEqual([["approve", "01D", "hash", "ok", tokens["approver"]?.actor]]);
  });

  it.each([
    ["an approval without hash", "/api/v1/deployments/01D/approve", {}, 400],
    ["an unknown field", "/api/v1/deployments/01D/approve", { spec_hash: "h", extra: 1 }, 400],
    ["broken JSON", "/api/v1/deployments/01D/approve", "{", 400],
    ["a list", "/api/v1/deployments/01D/approve", [], 400],
    ["a pause without reason", "/api/v1/jobs/apps/web/pause", {}, 400],
    ["a reason of blanks", "/api/v1/jobs/apps/web/pause", { reason: "  " }, 400],
    ["a reason that is too long", "/api/v1/jobs/apps/web/pause", { reason: "x".repeat(501) }, 400],
    ["a huge body", "/api/v1/pause", { reason: "x".repeat(70_000) }, 413],
  ])("refuses %s and changes nothing", async (_name, path, body, status) => {
    const response = await call(path, { method: "POST", token: "admin", body });
    expect(response.status).toBe(status);
    expect(fake.calls).toEqual([]);
  });

  it("accepts an empty body where nothing is required", async () => {
    expect((await call("/api/v1/deployments/01D/retry", { method: "POST", token: "admin" })).status).toBe(200);
    expect(fake.calls[0]?.slice(0, 3)).toEqual(["retry", "01D", {}]);
  });

  it("refuses a body that is not JSON by type (S21)", async () => {
    const response = await call("/api/v1/pause", {
      method: "POST",
      token: "admin",
      body: "reason=x",
      headers: { "content-type": "text/plain" },
    });
    expect(response.status).toBe(415);
  });

  it.each([
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ origin: "https://evil.example" }, 403],
    [{ "sec-fetch-site": "same-origin" }, 200],
  ])("a browser's write with %j is answered with %i", async (headers: Record<string, string>, status) => {
    expect((await call("/api/v1/resume", { method: "POST", token: "admin", headers })).status).toBe(status);
  });

  it("passes paging and filters on, with a default limit", async () => {
    await call("/api/v1/deployments?state=failed&job=web&cursor=c", { token: "reader" });
    expect(fake.calls).toEqual([["deployments", { limit: 50, state: "failed", job: "web", cursor: "c" }]]);
    expect((await call("/api/v1/deployments?limit=0", { token: "reader" })).status).toBe(400);
    expect((await call("/api/v1/deployments?since=yesterday", { token: "reader" })).status).toBe(400);
  });

  it("decodes a job ID with slashes from one path segment", async () => {
    await call(`/api/v1/jobs/apps/${encodeURIComponent("team/web")}/resume`, { method: "POST", token: "admin" });
    expect(fake.calls[0]?.slice(0, 2)).toEqual(["resumeJob", "apps/team/web" as JobKey]);
  });
});

describe("errors", () => {
  it.each([
    [new ConflictError("moved on", { code: "stale_approval" }), 409, "stale_approval"],
    [new RefusedError("paused", { code: "paused", hint: "resume it" }), 409, "paused"],
    [new NomadError("down", { kind: "not_sent" }), 503, "nomad_not_sent"],
    [new TypeError("bug"), 500, "internal"],
  ])("%s becomes a status and a code", async (error, status, code) => {
    fake.failWith = error;
    const response = await call("/api/v1/deployments/01D/reject", { method: "POST", token: "admin" });
    expect(response.status).toBe(status);
    expect(await codeOf(response)).toBe(code);
  });

  it("tells a client nothing of an unexpected failure, and the log everything", async () => {
    const response = await call("/api/v1/status", { token: "reader" });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("boom");
    expect(fake.reported).toHaveLength(1);
  });

  it("masks secrets in expected errors", async () => {
    fake.failWith = new RefusedError("value s3cret", { code: "refused", hint: "s3cret" });
    const text = await (await call("/api/v1/deployments/01D/reject", { method: "POST", token: "admin" })).text();
    expect(text).not.toContain("s3cret");
    expect(text).toContain("<redacted>");
  });

  it("answers unknown paths with JSON and every answer with the security headers (S09)", async () => {
    for (const path of ["/nowhere", "/healthz", "/api/v1/jobs"]) {
      const response = await call(path);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect(await codeOf(await call("/nowhere"))).toBe("not_found");
  });

  it("refuses a host name it does not go by (S31)", async () => {
    const response = await call("/version", { headers: { host: "evil.example" } }, { allowedHosts: ["nops.example"] });
    expect(response.status).toBe(421);
  });
});

describe("process routes", () => {
  it("answers probes, version and metrics without a token", async () => {
    expect(await (await call("/healthz")).text()).toBe("ok 1.2.3\n");
    const ready = await call("/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ ready: false, reasons: { nomad: "cannot be reached" } });
    expect(await (await call("/version")).json()).toEqual({ version: "1.2.3" });
    expect(await (await call("/metrics")).text()).toContain("nops_build_info");
  });

  it("asks for the metrics token when one is set", async () => {
    const probes = { ...fake.dependencies().probes, metricsToken: () => "m3trics" };
    expect((await call("/metrics", {}, { probes })).status).toBe(401);
    expect((await call("/metrics", { token: "m3trics" }, { probes })).status).toBe(200);
  });

  it("answers webhooks as their check says, and caps their bodies (S36)", async () => {
    expect((await call("/webhook/main", { method: "POST", body: "{}" })).status).toBe(401);
    expect((await call("/webhook/other", { method: "POST", body: "{}" })).status).toBe(404);
    expect((await call("/webhook/main", { method: "POST", body: "x".repeat(1_100_000) })).status).toBe(413);
    expect((await call("/webhook/main", { method: "POST", body: "{}", headers: { "content-encoding": "gzip" } })).status).toBe(
      415,
    );
  });
});

describe("event stream", () => {
  const event = (id: number, namespace: string | null): EventJson => ({
    id,
    time: at,
    kind: "deployment",
    namespace,
    job: "web",
    deployment_id: "01D",
    from: null,
    to: "detected",
    actor: "nops",
    reason: "drift",
    message: "m",
    hash: "h",
  });

  it("resumes after Last-Event-ID and leaves out namespaces that may not be read", async () => {
    fake.events = [event(1, "other"), event(2, "apps"), event(3, null), event(4, "other")];
    const response = await call("/api/v1/events/stream", { token: "elsewhere", headers: { "last-event-id": "1" } });
    const reader = response.body?.getReader();
    const text = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    expect(text).toContain("id: 4");
    expect(text).not.toContain("id: 1\n");
    expect(text).not.toContain("id: 2\n");
    expect(text).not.toContain("id: 3\n");
  });
});
