import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, gzip } from "node:zlib";
import { ConnectionCut } from "../faults.ts";
import { Refusal } from "../refusal.ts";
import { answerOf, cleanPath, redirection, refusalOf } from "./answer.ts";
import { type Authenticate, callOf, exchange } from "./exchange.ts";
import type { ApiRequest, ApiResponse } from "./message.ts";
import type { Service } from "./service.ts";
import { openStream, streamQuery } from "./stream.ts";

/** Answers smaller than this many bytes go out as they are. */
const gzipFrom = 1400;

export interface Listening {
  /** `http://127.0.0.1:PORT` */
  readonly address: string;
  /** Ends open queries, cuts streams and stops listening. */
  close(): Promise<void>;
}

/** Serves the API on the loopback interface only. Port 0 takes a free one. */
export async function listen(service: Service, authenticate: Authenticate, port: number): Promise<Listening> {
  const server = createServer((req, res) => {
    void serve(service, authenticate, req, res).catch(() => res.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function serve(service: Service, authenticate: Authenticate, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const aborted = new AbortController();
  res.on("close", () => aborted.abort());
  const request = await read(req, aborted.signal);
  const [path = "/", ...query] = (req.url ?? "/").split("?");
  if (cleanPath(path) !== path) {
    return write(res, req, answerOf(redirection(req.method ?? "GET", [cleanPath(path), ...query].join("?")), false));
  }
  if (request === undefined) return write(res, req, refusalOf(new Refusal(400, "400 Bad Request")));
  if (request.path === "/v1/event/stream" && request.method === "GET") return stream(service, authenticate, request, res);
  try {
    await write(res, req, await exchange(service, request, authenticate));
  } catch (error) {
    if (!(error instanceof ConnectionCut)) throw error;
    res.destroy();
  }
}

async function read(req: IncomingMessage, signal: AbortSignal): Promise<ApiRequest | undefined> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  const raw = req.url ?? "/";
  const at = raw.indexOf("?");
  let path: string;
  try {
    path = decodeURIComponent(at < 0 ? raw : raw.slice(0, at));
  } catch {
    return undefined;
  }
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(req.headers)) headers[name] = Array.isArray(value) ? value[0] : value;
  const search = at < 0 ? "" : raw.slice(at + 1);
  const query = new URLSearchParams(search);
  return { method: req.method ?? "GET", path, query, search, headers, body: Buffer.concat(parts).toString("utf8"), signal };
}

async function write(res: ServerResponse, req: IncomingMessage, response: ApiResponse): Promise<void> {
  const headers: Record<string, string> = { ...response.headers };
  let body: Buffer = Buffer.from(response.body);
  if (body.length >= gzipFrom && /\bgzip\b/.test(String(req.headers["accept-encoding"] ?? ""))) {
    body = await compress(body);
    headers["content-encoding"] = "gzip";
  }
  if (response.status !== 204) headers["content-length"] = String(body.length);
  res.writeHead(response.status, headers);
  res.end(req.method === "HEAD" ? undefined : body);
}

function compress(body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(body, { level: constants.Z_BEST_SPEED }, (error, packed) => (error === null ? resolve(packed) : reject(error)));
  });
}

/** 200 and `Connection: close` come before the rights are looked at (nomad-api §8). The body is not chunked. */
function stream(service: Service, authenticate: Authenticate, request: ApiRequest, res: ServerResponse): void {
  let call: ReturnType<typeof callOf> | undefined;
  try {
    streamQuery(request);
    call = callOf(request, authenticate, service.region);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 400) {
      const { status, headers, body } = refusalOf(error);
      res.writeHead(status, headers).end(body);
      return;
    }
  }
  res.useChunkedEncodingByDefault = false;
  res.writeHead(200, { connection: "close", "content-type": "application/json" });
  res.flushHeaders();
  if (call === undefined) {
    res.end();
    return;
  }
  const subscription = openStream(service, call, { write: (line) => res.write(line), end: () => res.end() });
  res.on("drain", () => subscription.resume());
  res.on("close", () => subscription.cancel());
}
