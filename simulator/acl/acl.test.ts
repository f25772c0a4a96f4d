import { describe, expect, it } from "vitest";
import { sampleJob } from "../sample.ts";
import { createSimulator, type Simulator } from "../server.ts";
import { compileAccess } from "./compile.ts";
import { readRules } from "./rules.ts";

const access = (...texts: string[]) => compileAccess(texts.map(readRules), "t");

describe("rules", () => {
  it("give what a policy word stands for, and capabilities beside it", () => {
    const found = access('namespace "default" {\n policy = "read"\n capabilities = ["submit-job"]\n}');
    expect(found.ns("default", "read-job")).toBe(true);
    expect(found.ns("default", "submit-job")).toBe(true);
    expect(found.ns("default", "dispatch-job")).toBe(false);
    expect(found.ns("other", "read-job")).toBe(false);
  });

  it("of the pattern that says most count, and the exact name before all", () => {
    const found = access(
      'namespace "*" { policy = "deny" }\nnamespace "team-*" { policy = "read" }\nnamespace "team-a" { policy = "write" }',
    );
    expect(found.ns("x", "read-job")).toBe(false);
    expect(found.ns("team-b", "read-job")).toBe(true);
    expect(found.ns("team-b", "submit-job")).toBe(false);
    expect(found.ns("team-a", "submit-job")).toBe(true);
  });

  it("add up over policies, and deny beats all", () => {
    const read = 'namespace "default" { policy = "read" }';
    const submit = 'namespace "default" { capabilities = ["submit-job"] }';
    const deny = 'namespace "default" { policy = "deny" }';
    expect(access(read, submit).ns("default", "submit-job")).toBe(true);
    expect(access(read, deny).ns("default", "read-job")).toBe(false);
    expect(access('node { policy = "read" }', 'node { policy = "write" }').node("write")).toBe(true);
  });

  it("of variables go by path", () => {
    const found = access('namespace "default" { variables { path "app/*" { capabilities = ["read", "list"] } } }');
    expect(found.variable("default", "app/x", "read")).toBe(true);
    expect(found.variable("default", "app/x", "write")).toBe(false);
    expect(found.variable("default", "other", "read")).toBe(false);
  });

  it.each([
    "namespace {",
    'namespace "default" { policy = "everything" }',
    'nonsense "x" {}',
    'namespace "default" { capabilities = ["fly"] }',
  ])("%s are refused", (text) => {
    expect(() => readRules(text)).toThrow();
  });
});

describe("a server with ACLs", () => {
  const ask = async (simulator: Simulator, token: string, method: string, path: string, body?: object) => {
    const headers = token === "" ? {} : { "X-Nomad-Token": token };
    const answer = await simulator.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    return { status: answer.status, text: answer.body, json: answer.body.startsWith("{") ? JSON.parse(answer.body) : undefined };
  };

  it("is bootstrapped once, and then lets tokens do what their policies say", async () => {
    const simulator = createSimulator({ acl: true });
    expect((await ask(simulator, "", "GET", "/v1/jobs")).status).toBe(403);
    const root = (await ask(simulator, "", "PUT", "/v1/acl/bootstrap")).json.SecretID as string;
    expect((await ask(simulator, "", "PUT", "/v1/acl/bootstrap")).status).toBe(400);
    await ask(simulator, root, "PUT", "/v1/acl/policy/reader", {
      Name: "reader",
      Rules: 'namespace "default" { policy = "read" }',
    });
    const made = await ask(simulator, root, "PUT", "/v1/acl/token", { Name: "r", Type: "client", Policies: ["reader"] });
    const reader = made.json.SecretID as string;
    expect((await ask(simulator, reader, "GET", "/v1/jobs")).status).toBe(200);
    expect(await ask(simulator, reader, "PUT", "/v1/jobs", { Job: sampleJob("a") })).toMatchObject({
      status: 403,
      text: "Permission denied",
    });
    expect((await ask(simulator, root, "PUT", "/v1/jobs", { Job: sampleJob("a") })).status).toBe(200);
    expect((await ask(simulator, `${reader.slice(0, -1)}x`, "GET", "/v1/jobs")).status).toBe(403);
  });

  it("knows the tasks of its own jobs, and lets them read their job's variables", async () => {
    const simulator = createSimulator({ acl: true });
    const root = (await ask(simulator, "", "PUT", "/v1/acl/bootstrap")).json.SecretID as string;
    await ask(simulator, root, "PUT", "/v1/jobs", { Job: sampleJob("web") });
    simulator.advance(5000);
    await ask(simulator, root, "PUT", "/v1/var/nomad/jobs/web", { Items: { a: "1" } });
    await ask(simulator, root, "PUT", "/v1/var/nomad/jobs/other", { Items: { a: "1" } });
    const alloc = [...simulator.state.allocs.rows.keys()][0] ?? "";
    const jwt = simulator.workloadIdentity(alloc, "t");
    expect((await ask(simulator, jwt, "GET", "/v1/var/nomad/jobs/web")).json.Items).toEqual({ a: "1" });
    expect((await ask(simulator, jwt, "GET", "/v1/var/nomad/jobs/other")).status).toBe(403);
    const [head = "", claims = "", signature = ""] = jwt.split(".");
    const forged = `${head}.${Buffer.from(Buffer.from(claims, "base64url").toString().replace("web", "abc")).toString("base64url")}.${signature}`;
    expect((await ask(simulator, forged, "GET", "/v1/var/nomad/jobs/web")).status).toBe(403);
  });
});
