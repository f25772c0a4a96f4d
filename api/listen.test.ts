import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Listening, listen, type RequestLimits } from "./listen.ts";

const open: Listening[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

async function started(limits?: RequestLimits): Promise<number> {
  const fetch = async (request: Request): Promise<Response> => {
    await request.text();
    return new Response("ok");
  };
  const server = await listen({ fetch }, "127.0.0.1", 0, limits);
  open.push(server);
  return Number(new URL(server.address).port);
}

/** What the server says to raw bytes until it ends the connection, or until `enough` was said. */
function say(port: number, bytes: string, enough = /\r\n\r\n/): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      if (enough.test(heard)) socket.destroy();
    });
    socket.on("close", () => resolve(heard));
    socket.on("error", reject);
  });
}

const head = "GET /healthz HTTP/1.1\r\nHost: x\r\n";

describe("the limits of the listener (S70)", () => {
  it.each([
    ["headers that are too large", `${head}X-Long: ${"a".repeat(17_000)}\r\n\r\n`, "431"],
    ["two lengths", `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`, "400"],
    ["no Host", "GET /healthz HTTP/1.1\r\n\r\n", "400"],
    ["no HTTP", "hello\r\n\r\n", "400"],
    ["what is right", `${head}\r\n`, "200"],
  ])("%s: answered with its status", async (_, bytes, status) => {
    expect(await say(await started(), bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("headers that never end: 408, and others are answered meanwhile", async () => {
    const port = await started({ headersMs: 300, requestMs: 600 });
    const slow = Array.from({ length: 200 }, () => say(port, head));
    expect(await say(port, `${head}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    for (const heard of await Promise.all(slow)) expect(heard).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("a body that never comes: 408", async () => {
    const port = await started({ headersMs: 300, requestMs: 600 });
    expect(await say(port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1234")).toMatch(/^HTTP\/1\.1 408 /);
  });
});
