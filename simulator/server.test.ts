import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { ask, sampleJob, script } from "./sample.ts";
import { createSimulator } from "./server.ts";

function get(
  address: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; encoding: string; size: number }> {
  return new Promise((resolve, reject) => {
    httpRequest(`${address}${path}`, { headers, agent: false }, (res) => {
      let size = 0;
      res.on("data", (part: Buffer) => {
        size += part.length;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, encoding: res.headers["content-encoding"] ?? "", size }));
    })
      .on("error", reject)
      .end();
  });
}

describe("blocking queries", () => {
  it("wait for what they asked for, and for nothing else", async () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("a"));
    simulator.advance(20_000);
    const { index } = simulator.state.jobs;
    let done = false;
    const waiting = ask(simulator, "GET", `/v1/jobs?index=${index}&wait=60s`).finally(() => {
      done = true;
    });
    await ask(simulator, "PUT", "/v1/var/x", { Items: { a: "1" } });
    simulator.advance(1000);
    await Promise.resolve();
    expect(done).toBe(false);
    simulator.register(sampleJob("b"));
    const answer = await waiting;
    expect(Number(answer.headers["x-nomad-index"])).toBeGreaterThan(index);
    expect(answer.ids()).toEqual(["a", "b"]);
  });

  it("answer the same again when the time is over", async () => {
    const simulator = createSimulator();
    const { index } = simulator.state;
    const waiting = ask(simulator, "GET", `/v1/jobs?index=${index}&wait=10s`);
    simulator.advance(11_000);
    expect((await waiting).json).toEqual([]);
  });

  it("end with the server", async () => {
    const simulator = createSimulator();
    const waiting = ask(simulator, "GET", `/v1/jobs?index=${simulator.state.index + 5}`);
    await simulator.close();
    expect((await waiting).status).toBe(200);
  });
});

describe("lists", () => {
  it("come in pages that together are the whole, forwards and backwards", async () => {
    const simulator = createSimulator();
    const ids = Array.from({ length: 13 }, (_, i) => `job-${String(i).padStart(2, "0")}`);
    for (const id of ids) simulator.register(sampleJob(id));
    for (const [reverse, wanted] of [
      ["", ids],
      ["&reverse=true", [...ids].reverse()],
    ] as const) {
      const found: unknown[] = [];
      for (let token = "", pages = 0; pages < 10; pages++) {
        const page = await ask(simulator, "GET", `/v1/jobs?per_page=5${reverse}&next_token=${encodeURIComponent(token)}`);
        found.push(...page.ids());
        token = page.headers["x-nomad-nexttoken"] ?? "";
        if (token === "") break;
      }
      expect(found).toEqual(wanted);
    }
  });

  it("show one namespace, or all", async () => {
    const simulator = createSimulator();
    await ask(simulator, "PUT", "/v1/namespace", { Name: "other" });
    simulator.register(sampleJob("a"));
    simulator.register(sampleJob("b"), { namespace: "other" });
    const ids = async (query: string) => (await ask(simulator, "GET", `/v1/jobs${query}`)).ids();
    expect(await ids("")).toEqual(["a"]);
    expect(await ids("?namespace=other")).toEqual(["b"]);
    expect(await ids("?namespace=*")).toEqual(["a", "b"]);
    expect(await ids("?namespace=*&prefix=b")).toEqual(["b"]);
    expect(await ids('?namespace=*&filter=Namespace=="other"')).toEqual(["b"]);
  });

  it("refuse a bad filter and a bad page in words", async () => {
    const simulator = createSimulator();
    const filter = await ask(simulator, "GET", "/v1/jobs?filter=ID");
    expect(filter.status).toBe(400);
    expect(filter.text).toMatch(/^failed to create result paginator: failed to read filter expression/);
    expect((await ask(simulator, "GET", "/v1/jobs?per_page=x")).text).toBe(
      "Expect a number for `per_page` query string parameter",
    );
  });
});

describe("bodies", () => {
  it.each([
    ["/v1/jobs", "3", "json: cannot unmarshal number into Go value of type api.JobRegisterRequest"],
    ["/v1/jobs", '{"Job":3}', "json: cannot unmarshal number into Go struct field JobRegisterRequest.Job of type api.Job"],
    ["/v1/jobs", '{"Job":{"ID":3}}', "json: cannot unmarshal number into Go struct field Job.Job.ID of type string"],
    [
      "/v1/jobs",
      '{"EnforceIndex":"x"}',
      "json: cannot unmarshal string into Go struct field JobRegisterRequest.EnforceIndex of type bool",
    ],
    [
      "/v1/jobs",
      '{"JobModifyIndex":-1}',
      "json: cannot unmarshal number -1 into Go struct field JobRegisterRequest.JobModifyIndex of type uint64",
    ],
    [
      "/v1/jobs",
      '{"Submission":{"VariableFlags":{"a":1}}}',
      "json: cannot unmarshal number into Go struct field JobSubmission.Submission.VariableFlags of type string",
    ],
    ["/v1/jobs", "", "Request body is empty"],
    ["/v1/jobs", "null", "Job must be specified"],
    ["/v1/job/x/plan", "[]", "json: cannot unmarshal array into Go value of type api.JobPlanRequest"],
    ["/v1/job/x/dispatch", '{"Payload":"*"}', "illegal base64 data at input byte 0"],
    [
      "/v1/job/x/dispatch",
      '{"Meta":{"a":1}}',
      "json: cannot unmarshal number into Go struct field JobDispatchRequest.Meta of type string",
    ],
    [
      "/v1/job/x/dispatch",
      '{"Priority":1.5}',
      "json: cannot unmarshal number 1.5 into Go struct field JobDispatchRequest.Priority of type int",
    ],
    ["/v1/job/x/scale", '{"Count":"1"}', "json: cannot unmarshal string into Go struct field ScalingRequest.Count of type int64"],
    ["/v1/jobs/parse", "3", "json: cannot unmarshal number into Go value of type api.JobsParseRequest"],
  ])("%s refuses %s", async (path, body, text) => {
    const answer = await ask(createSimulator(), "PUT", path, body);
    expect([answer.status, answer.text]).toEqual([400, text]);
  });
});

describe("paths", () => {
  it.each([
    ["GET", "/v1/nope", 404, ""],
    ["PATCH", "/v1/jobs", 405, "Invalid method"],
    ["GET", "/v1/quotas", 501, "Nomad Enterprise only endpoint"],
    ["GET", "/v1/job/x", 404, "job not found"],
    ["GET", "/v1/job/x/actions", 500, 'Unknown job "x"'],
    ["GET", "/v1/evaluation/x", 500, "failed to lookup eval: eval lookup failed: index error: UUID must be 36 characters"],
    ["GET", "/v1/deployment/", 500, "missing deployment ID"],
    ["GET", "/v1/client/fs/logs/", 400, "must provide a valid alloc id"],
    ["GET", "/v1/simulator/faults", 404, ""],
  ])("%s %s: %i %s", async (method, path, status, text) => {
    const answer = await ask(createSimulator(), method, path);
    expect([answer.status, answer.text]).toEqual([status, text]);
  });

  it("lead from the root and from names without a slash to where the answer is", async () => {
    const answer = await ask(createSimulator(), "GET", "/");
    expect([answer.status, answer.headers["location"]]).toEqual([307, "/ui/"]);
  });

  it("find by prefix", async () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("web-1"));
    const found = await ask(simulator, "POST", "/v1/search", { Prefix: "web", Context: "jobs" });
    expect(found.at("Matches")).toEqual({ jobs: ["web-1"] });
  });

  it("list services of the nomad provider while their tasks run, and scaling policies", async () => {
    const simulator = createSimulator();
    const group = { Scaling: { Min: 1, Max: 3, Enabled: true } };
    simulator.register(sampleJob("web", {}, group, { Services: [{ Name: "http", Provider: "nomad", Tags: ["v1"] }] }));
    expect((await ask(simulator, "GET", "/v1/services")).json).toEqual([]);
    simulator.advance(5000);
    expect((await ask(simulator, "GET", "/v1/services")).json).toEqual([
      { Namespace: "default", Services: [{ ServiceName: "http", Tags: ["v1"] }] },
    ]);
    expect((await ask(simulator, "GET", "/v1/service/http")).json).toHaveLength(1);
    expect((await ask(simulator, "GET", "/v1/scaling/policies")).json).toMatchObject([
      { Enabled: true, Target: { Namespace: "default", Job: "web", Group: "g" }, Type: "horizontal" },
    ]);
    await ask(simulator, "DELETE", "/v1/job/web");
    simulator.advance(60_000);
    expect((await ask(simulator, "GET", "/v1/services")).json).toEqual([]);
  });
});

describe("a listening server", () => {
  it("is reached over the loopback interface, and packs long answers for who asks", async () => {
    const simulator = createSimulator();
    for (let i = 0; i < 20; i++) simulator.register(sampleJob(`job-${i}`));
    const server = await simulator.listen();
    try {
      expect(server.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      const plain = await get(server.address, "/v1/jobs");
      const packed = await get(server.address, "/v1/jobs", { "accept-encoding": "gzip" });
      expect([plain.status, plain.encoding, packed.encoding]).toEqual([200, "", "gzip"]);
      expect(packed.size).toBeLessThan(plain.size / 4);
    } finally {
      await simulator.close();
    }
    await expect(get(server.address, "/v1/jobs")).rejects.toThrow();
  });

  it("survives nonsense on the line", async () => {
    const simulator = createSimulator();
    const server = await simulator.listen();
    try {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(new URL(server.address).port), "127.0.0.1", () => socket.end("NONSENSE\r\n\r\n"));
        socket.on("error", () => {});
        socket.on("close", () => resolve());
        socket.resume();
      });
      expect((await get(server.address, "/v1/job/%E0%A4%A")).status).toBe(400);
      expect((await get(server.address, "/v1/status/leader")).status).toBe(200);
    } finally {
      await simulator.close();
    }
  });
});

describe("snapshots", () => {
  it("bring back what was, with its indexes, while new writes count on from where the server stood", async () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("a"));
    simulator.advance(5000);
    const saved = simulator.snapshot();
    const before = (await ask(simulator, "GET", "/v1/jobs")).headers["x-nomad-index"];
    simulator.register(sampleJob("b", { Type: "batch" }, {}, script("exit 0")));
    simulator.advance(5000);
    const { index } = simulator.state;
    simulator.restore(saved);
    const list = await ask(simulator, "GET", "/v1/jobs");
    expect(list.ids()).toEqual(["a"]);
    expect(list.headers["x-nomad-index"]).toBe(before);
    expect(simulator.register(sampleJob("c")).index).toBeGreaterThan(index);
  });
});
