import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { GitObjects, PackRequest } from "./git-objects.ts";

/** A change to what the server does, settable at any time. */
export interface GitServerFault {
  /** Replaces the pack before it is framed. */
  readonly pack?: (pack: Buffer) => Buffer;
  /** Ends the answer to a pack request cleanly after so many bytes. */
  readonly endAfter?: number;
  /** Destroys the connection after so many bytes. */
  readonly resetAfter?: number;
  /** Stops sending after so many bytes and never ends. */
  readonly stallAfter?: number;
  /** Never answers at all. */
  readonly silent?: boolean;
  readonly status?: number;
  readonly redirectTo?: string;
  /** Sends this instead of any answer, status 200. */
  readonly body?: string;
}

export interface GitServerOptions {
  /** Password that a request must carry by HTTP basic authentication, under any user name. */
  readonly token?: string;
}

export interface GitServer {
  /** Base URL with the repository's path. */
  readonly url: string;
  readonly port: number;
  /** What was asked, in order. */
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly authorization: string | undefined;
    sent: number;
  }[];
  fault: GitServerFault | undefined;
  close(): Promise<void>;
}

const noObject = "0".repeat(40);

/** One pkt-line. */
export function packet(content: string | Buffer): Buffer {
  const body = Buffer.from(content);
  return Buffer.concat([Buffer.from((body.length + 4).toString(16).padStart(4, "0")), body]);
}

const flush = Buffer.from("0000");

/** Refs as protocol version 0 lists them, up to the flush-pkt. */
export function advertisement(objects: GitObjects): Buffer {
  const refs = [...objects.refs()];
  const capabilities = "side-band-64k shallow ofs-delta no-progress agent=nops-test";
  const main = objects.refs().get("refs/heads/main");
  if (main !== undefined) refs.unshift(["HEAD", main]);
  if (refs.length === 0) return Buffer.concat([packet(`${noObject} capabilities^{}\0${capabilities}\n`), flush]);
  const symref = main === undefined ? "" : " symref=HEAD:refs/heads/main";
  return Buffer.concat([
    ...refs.map(([name, sha], at) => packet(`${sha} ${name}${at === 0 ? `\0${capabilities}${symref}` : ""}\n`)),
    flush,
  ]);
}

/** Lines of a request; `undefined` is a flush-pkt. */
function* packets(bytes: Buffer): Generator<string | undefined> {
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = Number.parseInt(bytes.toString("latin1", at, at + 4), 16);
    yield length < 4 ? undefined : bytes.toString("utf8", at + 4, at + length).trimEnd();
    at += Math.max(4, length);
  }
}

/** The whole answer to a version 0 pack request. */
export function uploadPack(objects: GitObjects, request: Buffer, changePack = (pack: Buffer) => pack): Buffer {
  const lines = [...packets(request)].filter((line) => line !== undefined);
  const values = (word: string) => lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(" ")[1] ?? "");
  const depth = values("deepen")[0];
  const asked: PackRequest = {
    wants: values("want"),
    haves: values("have"),
    shallow: values("shallow"),
    depth: depth === undefined ? undefined : Number(depth),
  };
  const { oids, shallow } = objects.missing(asked);
  const parts: Buffer[] = depth === undefined ? [] : [...shallow.map((sha) => packet(`shallow ${sha}`)), flush];
  parts.push(packet("NAK\n"));
  // The git program first asks only for the cut of the history.
  if (!lines.includes("done")) return Buffer.concat(depth === undefined ? parts : parts.slice(0, -1));
  const pack = changePack(objects.pack(oids));
  for (let at = 0; at < pack.length; at += 65_000)
    parts.push(packet(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + 65_000)])));
  parts.push(flush);
  return Buffer.concat(parts);
}

function answer(
  objects: GitObjects,
  request: IncomingMessage,
  body: Buffer,
  fault: GitServerFault | undefined,
): Buffer | undefined {
  const path = new URL(request.url ?? "/", "http://localhost");
  const second = request.headers["git-protocol"] === "version=2";
  if (request.method === "GET" && path.pathname.endsWith("/info/refs")) {
    const head = Buffer.concat([packet("# service=git-upload-pack\n"), flush]);
    if (second) return Buffer.concat([head, packet("version 2\n"), packet("ls-refs\n"), packet("fetch=shallow\n"), flush]);
    return Buffer.concat([head, advertisement(objects)]);
  }
  if (request.method !== "POST" || !path.pathname.endsWith("/git-upload-pack")) return undefined;
  if (!second) return uploadPack(objects, body, fault?.pack);
  const prefixes = [...packets(body)].flatMap((line) => (line?.startsWith("ref-prefix ") === true ? [line.slice(11)] : []));
  const refs = [...objects.refs()].filter(
    ([name]) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix)),
  );
  return Buffer.concat([...refs.map(([name, sha]) => packet(`${sha} ${name}\n`)), flush]);
}

function send(response: ServerResponse, bytes: Buffer, fault: GitServerFault | undefined): void {
  const limit = fault?.endAfter ?? fault?.resetAfter ?? fault?.stallAfter;
  if (limit === undefined) response.end(bytes);
  else if (fault?.endAfter !== undefined) response.end(bytes.subarray(0, limit));
  else
    response.write(bytes.subarray(0, limit), () => {
      if (fault?.resetAfter !== undefined) response.destroy();
    });
}

/** Serves a repository by smart HTTP (version 0, and `ls-refs` of version 2) on a free port of 127.0.0.1. */
export async function serveGit(objects: GitObjects, options: GitServerOptions = {}): Promise<GitServer> {
  const requests: GitServer["requests"] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { fault } = result;
      const seen = {
        method: request.method ?? "",
        path: request.url ?? "",
        authorization: request.headers.authorization,
        sent: 0,
      };
      requests.push(seen);
      if (fault?.silent === true) return;
      if (fault?.redirectTo !== undefined) return void response.writeHead(302, { location: fault.redirectTo }).end();
      if (fault?.status !== undefined) return void response.writeHead(fault.status).end(fault.body ?? "refused");
      if (fault?.body !== undefined) return void response.writeHead(200, { "content-type": "text/html" }).end(fault.body);
      const given = Buffer.from(request.headers.authorization?.replace(/^Basic /, "") ?? "", "base64").toString();
      if (options.token !== undefined && given.slice(given.indexOf(":") + 1) !== options.token)
        return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("no");
      const bytes = answer(objects, request, Buffer.concat(chunks), fault);
      if (bytes === undefined) return void response.writeHead(404).end();
      seen.sent = bytes.length;
      const kind = request.method === "GET" ? "advertisement" : "result";
      response.writeHead(200, { "content-type": `application/x-git-upload-pack-${kind}` });
      send(response, bytes, request.method === "POST" && request.headers["git-protocol"] === undefined ? fault : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const result: GitServer = {
    url: `http://127.0.0.1:${port}/jobs.git`,
    port,
    requests,
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return result;
}

/** Speaks the stateful protocol of `git-upload-pack` over a stream, as a server reached by ssh does. */
export function serveUploadPack(objects: GitObjects, stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    let request = Buffer.alloc(0);
    stream.write(advertisement(objects));
    stream.on("data", (chunk: Buffer) => {
      request = Buffer.concat([request, chunk]);
      const leaves = request.toString("latin1") === "0000";
      if (!leaves && !request.toString("latin1").endsWith("0009done\n")) return;
      if (!leaves) stream.write(uploadPack(objects, request));
      request = Buffer.alloc(0);
      resolve();
    });
    stream.on("close", () => resolve());
  });
}
