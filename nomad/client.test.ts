import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { jobKey } from "../model/job-key.ts";
import { SeededRandom } from "../testkit/fake-clock.ts";
import { type SeenRequest, startHttpServer, type TestServer } from "../testkit/http-server.ts";
import { createNomadClient, type NomadClient } from "./client.ts";

const closing: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0).reverse()) await each.close();
});

/** A client and the requests it made; `answers` by method and path without query, 404 for everything else. */
async function client(answers: Readonly<Record<string, unknown>>): Promise<{ nomad: NomadClient; server: TestServer }> {
  const server = await startHttpServer((request, response) => {
    const answer = answers[`${request.method} ${request.url.split("?")[0]}`];
    if (answer === undefined) response.writeHead(404).end("job not found");
    else response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  const nomad = createNomadClient({ address: server.address, clock: systemClock, random: new SeededRandom() });
  closing.push(server, nomad);
  return { nomad, server };
}

const body = (request: SeenRequest | undefined): unknown => JSON.parse(request?.body ?? "null");
const key = jobKey("apps", "team/web");

describe("jobs", () => {
  it("are planned and registered in the namespace of the specification, never of a query", async () => {
    const { nomad, server } = await client({
      "PUT /v1/job/team%2Fweb/plan": { Diff: null, JobModifyIndex: 7, FailedTGAllocs: null, Warnings: "old" },
      "PUT /v1/jobs": { EvalID: "", JobModifyIndex: 9 },
    });
    const spec = { ID: "team/web", Namespace: "apps", Version: 3, Unknown: 1 };
    expect(await nomad.plan(spec)).toEqual({
      diff: { Type: "None", ID: "team/web" },
      jobModifyIndex: 7,
      failedPlacements: {},
      warnings: "old",
    });
    expect(await nomad.register(spec, 7, { source: "s", format: "hcl2", variables: "v" })).toEqual({ evalId: "", warnings: "" });
    expect(server.seen.map(({ url }) => url)).toEqual(["/v1/job/team%2Fweb/plan", "/v1/jobs"]);
    const job = { ID: "team/web", Namespace: "apps", Unknown: 1 };
    expect(body(server.seen[0])).toEqual({ Job: job, Diff: true });
    expect(body(server.seen[1])).toEqual({
      Job: job,
      EnforceIndex: true,
      JobModifyIndex: 7,
      Submission: { Source: "s", Format: "hcl2", Variables: "v", VariableFlags: {} },
    });
  });

  it("carry every digit from read to register", async () => {
    const digits = "9223372036854775807";
    const { nomad, server } = await client({
      "GET /v1/job/team%2Fweb": `{"ID":"team/web","SubmitTime":1700000000123456789,"Big":${digits},"JobModifyIndex":5}`,
      "PUT /v1/jobs": {},
      "PUT /v1/job/team%2Fweb/plan": {},
    });
    const live = await nomad.readJob(key);
    expect(live?.["SubmitTime"]).toBe(1.7000000001234568e18);
    await nomad.plan(live ?? { ID: "" });
    await nomad.register(JSON.parse(JSON.stringify(live)), 5, { source: "", format: "json", variables: "" });
    for (const { body: text } of server.seen.slice(1)) expect(text).toContain(`"Job":{"ID":"team/web","Big":${digits}}`);
  });

  it("are absent only in Nomad's own words", async () => {
    const { nomad } = await client({});
    expect(await nomad.readJob(key)).toBeUndefined();
    await expect(nomad.jobVersions(key)).rejects.toMatchObject({ kind: "not_found" });
    await expect(nomad.readSubmission(key, 0)).rejects.toMatchObject({ kind: "not_found" });
  });

  it("in JSON need no call, and say what is wrong with the file", async () => {
    const { nomad, server } = await client({});
    const parse = (source: string) => nomad.parse({ format: "json", source, variables: "" }, "default");
    expect(await parse('{"Job":{"ID":"j","Status":"dead","X":null}}')).toEqual({ ID: "j", X: null });
    await expect(parse("{")).rejects.toMatchObject({ kind: "refused", message: expect.stringContaining("not JSON") });
    await expect(parse('{"a":1}')).rejects.toMatchObject({ kind: "refused", message: expect.stringContaining('no "ID"') });
    expect(server.seen).toEqual([]);
  });
});

describe("dispatch", () => {
  const parent = jobKey("apps", "migrate");
  const child = "migrate/dispatch-1-aaaaaaaa";
  const childPath = `GET /v1/job/${encodeURIComponent(child)}`;

  it("tells a child that never was from one that is", async () => {
    const answers: Record<string, unknown> = { "PUT /v1/job/migrate/dispatch": { DispatchedJobID: child } };
    const { nomad, server } = await client(answers);
    expect(await nomad.dispatch(parent, "tok", { nops_job_id: "web" })).toEqual({ childId: child, exists: false });
    answers[childPath] = { ID: child };
    expect(await nomad.dispatch(parent, "tok", {})).toEqual({ childId: child, exists: true });
    expect(server.seen[0]?.url).toBe("/v1/job/migrate/dispatch?namespace=apps&idempotency_token=tok");
    expect(body(server.seen[0])).toEqual({ JobID: "migrate", Meta: { nops_job_id: "web" } });
  });

  it("has an unknown outcome when the child cannot be read, or none is named", async () => {
    const answers: Record<string, unknown> = { "PUT /v1/job/migrate/dispatch": { DispatchedJobID: child }, [childPath]: "[]" };
    const { nomad } = await client(answers);
    await expect(nomad.dispatch(parent, "tok", {})).rejects.toMatchObject({ kind: "unknown_outcome" });
    answers["PUT /v1/job/migrate/dispatch"] = {};
    await expect(nomad.dispatch(parent, "tok", {})).rejects.toMatchObject({ kind: "unknown_outcome" });
  });

  it("finds the child whose token and parent are right, and no other", async () => {
    const stub = (ID: string, ParentID = "migrate") => ({ ID, ParentID });
    const { nomad, server } = await client({
      "GET /v1/jobs": [stub("migrate/dispatch-a", "other"), stub("migrate/dispatch-b"), stub("migrate/dispatch-c")],
      "GET /v1/job/migrate%2Fdispatch-b": { ID: "migrate/dispatch-b", DispatchIdempotencyToken: "tok-2" },
      "GET /v1/job/migrate%2Fdispatch-c": { ID: "migrate/dispatch-c", DispatchIdempotencyToken: "tok" },
    });
    expect(await nomad.findDispatched(parent, "tok")).toMatchObject({ ID: "migrate/dispatch-c" });
    const query = new URL(server.seen[0]?.url ?? "", server.address).searchParams;
    expect([query.get("prefix"), query.get("filter"), query.get("namespace")]).toEqual([
      "migrate/dispatch-",
      'DispatchIdempotencyToken == "tok"',
      "apps",
    ]);
  });

  it.each(["", 'a" or "" == "', "a b", "x".repeat(201)])("refuses the token %j", async (token) => {
    const { nomad, server } = await client({});
    await expect(nomad.dispatch(parent, token, {})).rejects.toMatchObject({ code: "bad_dispatch_token" });
    await expect(nomad.findDispatched(parent, token)).rejects.toMatchObject({ code: "bad_dispatch_token" });
    expect(server.seen).toEqual([]);
  });
});

describe("lists", () => {
  it("go on until the last page, under the index of the first", async () => {
    let page = 0;
    const server = await startHttpServer((_, response) => {
      page += 1;
      if (page < 3) response.setHeader("x-nomad-nexttoken", `default.job-${page}`);
      response.setHeader("x-nomad-index", 10 + page).end(JSON.stringify([{ ID: `job-${page}` }]));
    });
    const nomad = createNomadClient({ address: server.address, clock: systemClock, random: new SeededRandom(), pageSize: 1 });
    closing.push(server, nomad);
    expect(await nomad.listJobs("default", { meta: true })).toEqual({
      index: 11,
      jobs: [{ ID: "job-1" }, { ID: "job-2" }, { ID: "job-3" }],
    });
    expect(server.seen.map(({ url }) => url)).toEqual([
      "/v1/jobs?namespace=default&per_page=1&meta=true",
      "/v1/jobs?namespace=default&per_page=1&next_token=default.job-1&meta=true",
      "/v1/jobs?namespace=default&per_page=1&next_token=default.job-2&meta=true",
    ]);
  });

  it("that are null are empty, and deployments come newest first", async () => {
    const { nomad } = await client({
      "GET /v1/job/team%2Fweb/allocations": "null",
      "GET /v1/job/team%2Fweb/deployments": [
        { ID: "a", CreateIndex: 1 },
        { ID: "b", CreateIndex: 2 },
      ],
    });
    expect(await nomad.listAllocations(key)).toEqual([]);
    expect((await nomad.listNomadDeployments(key)).map(({ ID }) => ID)).toEqual(["b", "a"]);
  });
});

describe("the own token", () => {
  it("is shown without its secret, and is none for a workload identity", async () => {
    const answers: Record<string, unknown> = {
      "GET /v1/acl/token/self": { AccessorID: "a", SecretID: "canary", Name: "n", Type: "client" },
    };
    const { nomad } = await client(answers);
    expect(await nomad.aclTokenSelf()).toEqual({ AccessorID: "a", Name: "n", Type: "client" });
  });
});
