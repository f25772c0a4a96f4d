import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import git from "isomorphic-git";
import { afterEach, describe, expect, it } from "vitest";
import { packet } from "../testkit/git-server.ts";
import { createTempRepository } from "../testkit/temp-git.ts";
import { createHttpTransport, type HttpTransportOptions } from "./http-transport.ts";
import { gitLimits } from "./limits.ts";
import type { Transport } from "./transport.ts";

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const secret = "canary-token-5";

async function served(token?: string) {
  const repository = await createTempRepository({ bare: true });
  cleanUps.push(repository.remove);
  const sha = await repository.commit({ files: { a: "b" } });
  return { sha, server: await repository.serveHttp(token === undefined ? {} : { token }) };
}

function transport(url: string, options: Partial<HttpTransportOptions> = {}): Transport {
  const made = createHttpTransport({
    url,
    username: "git",
    token: undefined,
    certificateAuthority: undefined,
    limits: gitLimits,
    signal: new AbortController().signal,
    ...options,
  });
  cleanUps.push(() => made.close());
  return made;
}

function listRefs({ http, url }: Transport) {
  return git.listServerRefs({ http, url, prefix: "refs/heads/main", protocolVersion: 2 });
}

async function rawServer(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs.git`;
}

const type = { "content-type": "application/x-git-upload-pack-advertisement" };

describe("createHttpTransport", () => {
  it("lists refs and sends the token with the first request", async () => {
    const { server, sha } = await served(secret);
    const refs = await listRefs(transport(server.url, { token: secret }));
    expect(refs).toEqual([{ ref: "refs/heads/main", oid: sha }]);
    const expected = `Basic ${Buffer.from(`git:${secret}`).toString("base64")}`;
    expect(server.requests.map(({ authorization }) => authorization)).toEqual([expected, expected]);
  });

  it.each([
    [undefined, "asks for credentials, and none are configured"],
    [`${secret}-wrong`, "does not accept the configured token (HTTP 401)"],
  ])("says what is wrong with the token %s, without it", async (token, why) => {
    const { server } = await served("other");
    const failure = await listRefs(transport(server.url, { token })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "not_permitted", message: `${server.url} ${why}` });
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain(secret);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [404, "not_found"],
    [403, "not_permitted"],
    [500, "unreachable"],
    [429, "unreachable"],
  ])("reads status %d as %s", async (status, kind) => {
    const { server } = await served();
    server.fault = { status };
    await expect(listRefs(transport(server.url))).rejects.toMatchObject({ kind });
  });

  it("follows no redirect and shows where it leads (S73)", async () => {
    const seen: unknown[] = [];
    const other = await rawServer((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const { server } = await served(secret);
    server.fault = { redirectTo: `${other}/info/refs?service=git-upload-pack&x=${secret}` };
    const failure = listRefs(transport(server.url, { token: secret }));
    await expect(failure).rejects.toMatchObject({
      kind: "redirected",
      message: `${server.url} redirects to ${other}, and nops follows no redirects`,
    });
    expect(seen).toEqual([]);
  });

  it("tells a web page from a git server", async () => {
    const { server } = await served();
    server.fault = { body: "<html>" };
    await expect(listRefs(transport(server.url))).rejects.toMatchObject({
      kind: "bad_answer",
      message: expect.stringContaining("text/html"),
    });
  });

  it.each([
    ["no git at all", Buffer.from("hello"), "bad_answer", "does not answer as a git server does"],
    ["an empty answer", Buffer.alloc(0), "unreachable", "broke off"],
    ["a list without an end", packet("# service=git-upload-pack\n"), "unreachable", "broke off"],
    ["a list that is cut in a packet", Buffer.from("00400000"), "unreachable", "broke off"],
    ["a reported error", packet("ERR \u001b[31mno such thing\nx"), "bad_answer", "reports: [31mno such thing x"],
  ])("refuses %s", async (_, body, kind, message) => {
    const url = await rawServer((_request, response) => response.writeHead(200, type).end(body));
    await expect(listRefs(transport(url))).rejects.toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  it("gives up a silent server after the idle limit", async () => {
    const { server } = await served();
    server.fault = { silent: true };
    const limits = { ...gitLimits, idleMs: 40 };
    await expect(listRefs(transport(server.url, { limits }))).rejects.toMatchObject({
      kind: "timeout",
      message: expect.stringContaining("silent"),
    });
  });

  it("gives up a server that falls silent within the answer", async () => {
    const url = await rawServer((_request, response) => response.writeHead(200, type).write("001e"));
    const limits = { ...gitLimits, idleMs: 40 };
    await expect(listRefs(transport(url, { limits }))).rejects.toMatchObject({ kind: "timeout" });
  });

  it("gives up an endless list of refs at the byte limit (S43)", async () => {
    const url = await rawServer((_request, response) => {
      response.writeHead(200, type);
      const line = packet(`${"1".repeat(40)} refs/heads/x\n`);
      const more = () => {
        while (response.writable && response.write(line));
      };
      response.on("drain", more);
      more();
    });
    const limits = { ...gitLimits, refsBytes: 300_000 };
    await expect(listRefs(transport(url, { limits }))).rejects.toMatchObject({ kind: "too_large" });
  });

  it("stops when it is aborted, before and within an answer", async () => {
    const { server } = await served();
    await expect(listRefs(transport(server.url, { signal: AbortSignal.abort() }))).rejects.toMatchObject({ kind: "aborted" });
    const abort = new AbortController();
    const url = await rawServer((_request, response) => {
      response.writeHead(200, type).write("001e");
      response.on("close", () => cleanUps.push(() => undefined));
      abort.abort();
    });
    await expect(listRefs(transport(url, { signal: abort.signal }))).rejects.toMatchObject({ kind: "aborted" });
  });

  it("says that nobody listens", async () => {
    const { server } = await served();
    await server.close();
    await expect(listRefs(transport(server.url))).rejects.toMatchObject({
      kind: "unreachable",
      message: `${server.url} refuses the connection`,
    });
  });

  it("does not contact an address that no forge can have (S44)", async () => {
    const { server } = await served();
    await expect(listRefs(transport(`http://0.0.0.0:${server.port}/jobs.git`))).rejects.toMatchObject({ kind: "configuration" });
    expect(server.requests).toEqual([]);
  });
});
