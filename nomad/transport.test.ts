import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { NomadError } from "../model/errors.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { heldBytesAfter } from "../testkit/held-bytes.ts";
import { type SeenRequest, startHttpServer, type TestServer } from "../testkit/http-server.ts";
import type { NomadClientOptions, RequestObservation } from "./options.ts";
import { createTransport, type NomadRequest, type NomadTransport } from "./transport.ts";

const CANARY = "canary-token-7f3a";
const GET: NomadRequest = {
  operation: "read_job",
  what: "read job default/web",
  effect: "read",
  method: "GET",
  path: "/v1/job/web",
};
const PUT: NomadRequest = {
  operation: "register",
  what: "register job web",
  effect: "write",
  method: "PUT",
  path: "/v1/jobs",
  body: { Job: { Env: "canary-body-secret" } },
};

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function server(handle: Parameters<typeof startHttpServer>[0]): Promise<TestServer> {
  const started = await startHttpServer(handle);
  open.push(started);
  return started;
}

function transport(address: string, options: Partial<NomadClientOptions> = {}): NomadTransport {
  const created = createTransport({ address, clock: systemClock, random: new SeededRandom(), token: CANARY, ...options });
  open.push(created);
  return created;
}

/** The NomadError of a call, after a look that nothing secret is in any form of it. */
async function errorOf(call: Promise<unknown>): Promise<NomadError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NomadError);
  const forms = [
    inspect(error, { depth: 20, showHidden: true }),
    JSON.stringify(error),
    String(error),
    (error as Error).stack ?? "",
  ];
  for (const form of forms) expect(form).not.toMatch(/canary/);
  return error as NomadError;
}

describe("what is sent", () => {
  it("carries bearer token, region and body, and nothing of a proxy or cookie", async () => {
    const { address, seen } = await server((_, response) => response.end("{}"));
    await transport(address, { region: "eu" }).call({ ...PUT, query: { topic: ["a", "b"], none: undefined, n: 1 } });
    expect(seen[0]).toMatchObject({
      method: "PUT",
      url: "/v1/jobs?topic=a&topic=b&n=1&region=eu",
      body: JSON.stringify(PUT.body),
    });
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${CANARY}`,
      "content-type": "application/json",
      "accept-encoding": "identity",
      "user-agent": "nops",
    });
    expect(seen[0]?.headers).not.toHaveProperty("x-nomad-token");
  });

  it("is a DELETE without a body too", async () => {
    const { address, seen } = await server((_, response) => response.writeHead(204).end());
    await transport(address).call({ ...PUT, method: "DELETE", body: undefined, decoding: "none" });
    expect(seen[0]).toMatchObject({ method: "DELETE", body: "" });
  });

  it("reads the token from its file again when that changed, and bridges a moment without it", async () => {
    const { address, seen } = await server((_, response) => response.end("{}"));
    let text = "one\n";
    let mtimeMs = 1;
    let gone = false;
    let reads = 0;
    const files = {
      stat: async () => {
        if (gone) throw Object.assign(new Error("gone"), { code: "ENOENT" });
        return { mtimeMs, size: text.length, ino: 1 };
      },
      read: async () => {
        reads += 1;
        return text;
      },
    };
    const { call } = transport(address, { tokenFile: "/secrets/nomad_token", files });
    await call(GET);
    await call(GET);
    expect(reads).toBe(1);
    gone = true;
    await call(GET);
    gone = false;
    text = "two\n";
    mtimeMs = 2;
    await call(GET);
    text = "";
    mtimeMs = 3;
    await call(GET);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(
      ["one", "one", "one", "two", "two"].map((t) => `Bearer ${t}`),
    );
  });

  it("is nothing at all when the token cannot be read", async () => {
    const { address, seen } = await server((_, response) => response.end("{}"));
    const error = await errorOf(transport(address, { tokenFile: "/nowhere/token" }).call(PUT));
    expect(error).toMatchObject({ kind: "not_sent", message: "cannot read the token file /nowhere/token (ENOENT)" });
    expect(seen).toEqual([]);
  });
});

describe("what is not repeated", () => {
  it.each([429, 500, 502, 503, 504])("a write answered %i", async (status) => {
    const { address, seen } = await server((_, response) => response.writeHead(status).end("No cluster leader"));
    await errorOf(transport(address).call(PUT));
    expect(seen).toHaveLength(1);
  });

  it("a write whose connection broke", async () => {
    const { address, seen } = await server((_request, _response, socket) => socket.resetAndDestroy());
    const error = await errorOf(transport(address).call(PUT));
    expect(error.kind).toBe("unknown_outcome");
    expect(seen).toHaveLength(1);
  });

  it("a GET that is simply refused", async () => {
    const { address, seen } = await server((_, response) => response.writeHead(500).end("no good"));
    expect(await errorOf(transport(address).call(GET))).toMatchObject({
      kind: "refused",
      message: "cannot read job default/web: no good",
    });
    expect(seen).toHaveLength(1);
  });
});

describe("what is repeated", () => {
  it("a GET, twice at most, after the time that the server names", async () => {
    const clock = new FakeClock();
    const { address, seen } = await server((_, response) => response.writeHead(429, { "retry-after": "3" }).end("slow down"));
    const observed: RequestObservation[] = [];
    const result = errorOf(transport(address, { clock, onRequest: (o) => observed.push(o) }).call(GET));
    for (const count of [1, 2]) {
      await until(() => observed.length === count && clock.pending === 1);
      await clock.advance(2_999);
      expect(seen).toHaveLength(count);
      await clock.advance(1);
    }
    expect(await result).toMatchObject({ kind: "overloaded", status: 429, retryAfterMs: 3_000 });
    expect(observed.map(({ operation, method, status }) => `${operation} ${method} ${status}`)).toEqual(
      Array(3).fill("read_job GET 429"),
    );
    expect(clock.pending).toBe(0);
  });

  it("a GET whose connection broke, until it works", async () => {
    let count = 0;
    const { address } = await server((_, response, socket) => {
      count += 1;
      if (count < 3) socket.resetAndDestroy();
      else response.setHeader("x-nomad-index", "7").end('{"ID":"web"}');
    });
    expect(await transport(address).call(GET)).toMatchObject({ value: { ID: "web" }, index: 7 });
  });

  it("never beyond the deadline of the call", async () => {
    const { address, seen } = await server((_, response) => response.writeHead(503, { "retry-after": "60" }).end());
    expect(await errorOf(transport(address).call(GET))).toMatchObject({ kind: "overloaded", retryAfterMs: 60_000 });
    expect(seen).toHaveLength(1);
  });
});

describe("answers that mean harm", () => {
  it("a redirect is an error and the other side sees nothing (S73)", async () => {
    const thief = await server((_, response) => response.end("{}"));
    const { address } = await server((_, response) => response.writeHead(307, { location: `${thief.address}/x?t=canary` }).end());
    for (const request of [GET, PUT]) {
      const error = await errorOf(transport(address).call(request));
      expect(error).toMatchObject({ kind: "refused", status: 307 });
      expect(error.message).toContain(`redirected to ${thief.address};`);
    }
    expect(thief.seen).toEqual([]);
  });

  it("an echo of token and body does not get into the error (S02)", async () => {
    const { address } = await server((request: SeenRequest, response) =>
      response.writeHead(500).end(`you sent ${request.headers.authorization} and ${request.body}`),
    );
    expect((await errorOf(transport(address).call(PUT))).message).toBe(
      "cannot register job web: you sent Bearer [removed] and [removed]",
    );
  });

  it.each([
    ["truncated JSON", (r: Parameters<Parameters<typeof startHttpServer>[0]>[1]) => r.end('{"ID": "we')],
    ["HTML", (r: Parameters<Parameters<typeof startHttpServer>[0]>[1]) => r.end("<html>welcome</html>")],
    ["a list instead of an object", (r: Parameters<Parameters<typeof startHttpServer>[0]>[1]) => r.end("[]")],
    ["nothing", (r: Parameters<Parameters<typeof startHttpServer>[0]>[1]) => r.end()],
  ])("a success with %s is no success", async (_, answer) => {
    const { address } = await server((_request, response) => answer(response));
    expect(await errorOf(transport(address).call(GET))).toMatchObject({ kind: "overloaded", status: 200 });
    expect(await errorOf(transport(address).call(PUT))).toMatchObject({ kind: "unknown_outcome", status: 200 });
  });

  it("a 404 in other words than Nomad's is no absent job", async () => {
    const { address } = await server((request, response) =>
      response.writeHead(404).end(request.url === "/v1/job/web" ? "job not found" : "404 page not found"),
    );
    expect(await transport(address).call({ ...GET, absent: "job not found" })).toMatchObject({ value: undefined });
    const error = await errorOf(transport(address).call({ ...GET, path: "/v1/job/other", absent: "job not found" }));
    expect(error.kind).toBe("not_found");
  });

  it("an answer cut in the middle is lost", async () => {
    const { address } = await server((_, response, socket) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"ID":');
      setImmediate(() => socket.destroy());
    });
    expect(await errorOf(transport(address).call(PUT))).toMatchObject({ kind: "unknown_outcome", status: 200 });
    expect(await errorOf(transport(address).call(GET))).toMatchObject({ kind: "overloaded" });
  });

  it("more bytes than allowed end the call early, compressed ones counted as what they become (S75)", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, " "));
    expect(bomb.length).toBeLessThan(100_000);
    let written = 0;
    const { address } = await server((request, response) => {
      if (request.url.endsWith("bomb")) {
        response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
        return;
      }
      const chunk = Buffer.alloc(65_536, " ");
      const more = (): void => {
        while (written < 1_000_000_000 && !response.destroyed && response.write(chunk)) written += chunk.length;
        if (written < 1_000_000_000 && !response.destroyed) response.once("drain", more);
      };
      more();
    });
    const { call } = transport(address, { maxAnswerBytes: 1_000_000 });
    const held = await heldBytesAfter(async () => {
      expect(await errorOf(call(GET))).toMatchObject({
        kind: "refused",
        message: expect.stringContaining("larger than allowed"),
      });
      expect(written).toBeLessThan(20_000_000);
      expect(await errorOf(call({ ...GET, path: "/bomb" }))).toMatchObject({ kind: "refused" });
      expect(await errorOf(call({ ...PUT, path: "/bomb" }))).toMatchObject({ kind: "unknown_outcome" });
    }, 20_000_000);
    expect(held).toBeLessThan(20_000_000);
  });

  it("the raw 429 of too many connections, with no proper head", async () => {
    const { address } = await server((_request, _response, socket) => {
      const text = "Your IP is issuing too many concurrent connections, please rate limit your calls\n";
      socket.end(`HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n\r\n${text}`);
    });
    expect(await errorOf(transport(address).call(PUT))).toMatchObject({ kind: "overloaded", status: 429 });
  });

  it("bytes that trickle in do not extend the deadline", async () => {
    const clock = new FakeClock();
    const { address, sockets, seen } = await server((_, response) => {
      response.writeHead(200);
      response.write('{"ID":"');
    });
    const result = errorOf(transport(address, { clock, timeoutMs: 5_000 }).call(PUT));
    await until(() => seen.length === 1);
    await clock.advance(4_999);
    expect(sockets.size).toBe(1);
    await clock.advance(1);
    expect(await result).toMatchObject({ kind: "unknown_outcome", message: expect.stringContaining("in time") });
    await until(() => sockets.size === 0);
    expect(clock.pending).toBe(0);
  });
});

describe("no connection", () => {
  it("is not_sent when nobody listens, or the name does not resolve", async () => {
    const { address, close } = await startHttpServer(() => {});
    await close();
    expect(await errorOf(transport(address).call(PUT))).toMatchObject({
      kind: "not_sent",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(await errorOf(transport("http://nowhere.invalid:4646").call(PUT))).toMatchObject({ kind: "not_sent" });
    expect(await errorOf(transport("unix:///nowhere/api.sock").call(PUT))).toMatchObject({
      kind: "not_sent",
      message: "cannot register job web: no connection to Nomad at unix:///nowhere/api.sock (ENOENT)",
    });
  });

  it("is unknown_outcome when a kept connection breaks under a write", async () => {
    let count = 0;
    const { address } = await server((_, response, socket) => {
      count += 1;
      if (count === 1) response.end("{}");
      else socket.destroy();
    });
    const { call } = transport(address);
    await call(PUT);
    expect(await errorOf(call(PUT))).toMatchObject({ kind: "unknown_outcome" });
  });

  it("ends at once when the caller gives up", async () => {
    const { address, seen } = await server(() => {});
    const abort = new AbortController();
    const result = errorOf(transport(address).call({ ...PUT, signal: abort.signal }));
    await until(() => seen.length === 1);
    abort.abort();
    expect(await result).toMatchObject({ kind: "unknown_outcome", message: expect.stringContaining("cancelled") });
    expect(await errorOf(transport(address).call({ ...PUT, signal: abort.signal }))).toMatchObject({ kind: "not_sent" });
    expect(seen).toHaveLength(1);
  });
});

describe("load", () => {
  it("stays within the limit of calls and keeps connections", async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const ports = new Set<number | undefined>();
    const { address } = await server((_, response, socket) => {
      ports.add(socket.remotePort);
      waiting.push(() => response.end("{}"));
      most = Math.max(most, waiting.length);
      // Three are let go together, after a moment in which a fourth would have come.
      if (waiting.length === 3) setImmediate(() => setImmediate(() => waiting.splice(0).forEach((answer) => void answer())));
    });
    const { call } = transport(address, { concurrency: 3 });
    await Promise.all(Array.from({ length: 39 }, () => call(GET)));
    expect(most).toBe(3);
    expect(ports.size).toBe(3);
  });

  it("takes blocking queries out of the limit", async () => {
    const waiting: (() => void)[] = [];
    const { address } = await server((request, response) => {
      if (request.url === "/wait") waiting.push(() => response.end("{}"));
      else response.end("{}");
    });
    const { call } = transport(address, { concurrency: 1 });
    const blocked = Promise.all([1, 2, 3].map(() => call({ ...GET, path: "/wait", long: true })));
    await until(() => waiting.length === 3);
    await call(GET);
    for (const answer of waiting) answer();
    await blocked;
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = systemClock.now() + 5_000;
  while (!condition()) {
    if (systemClock.now() > deadline) throw new Error("the condition did not come true");
    await new Promise((resolve) => setImmediate(resolve));
  }
}
