import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { SeededRandom } from "../testkit/fake-clock.ts";
import { testAuthority, testClientCert, testClientKey, testServerCert, testServerKey } from "../testkit/tls-fixtures.ts";
import type { NomadTlsOptions } from "./options.ts";
import { createTransport, type NomadRequest, type NomadTransport } from "./transport.ts";

const PUT: NomadRequest = { operation: "x", what: "try", effect: "write", method: "PUT", path: "/v1/jobs", body: {} };

let folder = "";
const closing: { close(): unknown }[] = [];
const file = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nops-tls-"));
  for (const [name, text] of [
    ["ca.pem", testAuthority],
    ["cert.pem", testClientCert],
    ["key.pem", testClientKey],
  ] as const) {
    await writeFile(file(name), text);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => {
  for (const each of closing.splice(0).reverse()) each.close();
});

async function secureServer(options: { readonly mutual?: boolean } = {}): Promise<{ address: string; requests: () => number }> {
  let requests = 0;
  const tls = {
    cert: testServerCert,
    key: testServerKey,
    ca: testAuthority,
    requestCert: options.mutual === true,
    rejectUnauthorized: options.mutual === true,
  };
  const server: Server = createServer(tls, (request, response) => {
    requests += 1;
    request.resume().on("end", () => response.end("{}"));
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  const address = server.address();
  return { address: `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, requests: () => requests };
}

function transport(address: string, tls: NomadTlsOptions): NomadTransport {
  const created = createTransport({ address, tls, clock: systemClock, random: new SeededRandom() });
  closing.push(created);
  return created;
}

const serverName = "server.global.nomad";

describe("TLS", () => {
  it("trusts the configured authority and name", async () => {
    const { address } = await secureServer();
    expect(await transport(address, { caFile: file("ca.pem"), serverName }).call(PUT)).toMatchObject({ value: {} });
  });

  it.each([
    ["an unknown authority", { serverName }, /UNABLE_TO_VERIFY|SELF_SIGNED/],
    ["another name", { caFile: "ca.pem" }, /ERR_TLS_CERT_ALTNAME_INVALID/],
  ])("refuses %s before anything is sent (S74)", async (_, tls: NomadTlsOptions, code) => {
    const { address, requests } = await secureServer();
    const options = tls.caFile === undefined ? tls : { ...tls, caFile: file(tls.caFile) };
    await expect(transport(address, options).call(PUT)).rejects.toMatchObject({
      kind: "not_sent",
      message: expect.stringMatching(code),
    });
    expect(requests()).toBe(0);
  });

  it("takes any certificate when told to", async () => {
    const { address } = await secureServer();
    expect(await transport(address, { skipVerify: true }).call(PUT)).toMatchObject({ value: {} });
  });

  it("shows its own certificate, and without one nothing has happened", async () => {
    const { address, requests } = await secureServer({ mutual: true });
    const trust = { caFile: file("ca.pem"), serverName };
    await expect(transport(address, trust).call(PUT)).rejects.toMatchObject({ kind: "not_sent" });
    expect(requests()).toBe(0);
    const own = { ...trust, certFile: file("cert.pem"), keyFile: file("key.pem") };
    expect(await transport(address, own).call(PUT)).toMatchObject({ value: {} });
  });

  it("reads a renewed authority without a restart", async () => {
    const { address } = await secureServer();
    await writeFile(file("renewed.pem"), testClientCert);
    const { call } = transport(address, { caFile: file("renewed.pem"), serverName });
    await expect(call(PUT)).rejects.toMatchObject({ kind: "not_sent" });
    await writeFile(file("renewed.pem"), `${testAuthority}\n`);
    expect(await call(PUT)).toMatchObject({ value: {} });
  });

  it("wants certificate and key together, and files that exist", async () => {
    expect(() => transport("https://h", { certFile: "c" })).toThrow(expect.objectContaining({ code: "bad_nomad_tls" }));
    await expect(transport("https://127.0.0.1:1", { caFile: "/nowhere.pem" }).call(PUT)).rejects.toMatchObject({
      kind: "not_sent",
      message: "cannot read the CA file /nowhere.pem (ENOENT)",
    });
  });
});

describe("a unix socket", () => {
  it.each(["unix://", "http+unix://"])("is reached by %s, whatever its path holds", async (scheme) => {
    const path = file(`a:b ${scheme.length}.sock`);
    const seen: string[] = [];
    const server = createPlainServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.host}`);
      request.resume().on("end", () => response.end("{}"));
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    closing.push({
      close() {
        server.closeAllConnections();
        server.close();
      },
    });
    const { call } = transport(scheme === "unix://" ? `${scheme}${path}` : `${scheme}${encodeURIComponent(path)}`, {});
    await call(PUT);
    await call({ ...PUT, long: true });
    expect(seen).toEqual(["PUT /v1/jobs 127.0.0.1", "PUT /v1/jobs 127.0.0.1"]);
  });
});
