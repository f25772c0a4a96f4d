/** A server on loopback that hands every request on to another one, with a place to look before and after. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request on its way. */
export interface ProxiedCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With the query, as it was sent. */
  readonly url: string;
  readonly body: string;
}

export interface ProxyHooks {
  /** Before the request is passed on. An answer is sent in the place of the other server's, which then hears of nothing. */
  before?(call: ProxiedCall): Promise<CannedAnswer | undefined> | undefined;
  /** The other server has answered, and none of its answer was handed back yet. */
  after?(call: ProxiedCall): Promise<void> | undefined;
}

export interface CannedAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Proxy {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  close(): Promise<void>;
}

/** @param target address of the server behind it. A caller that goes away takes its request with it, if that was not passed on yet. */
export async function startProxy(target: string, hooks: ProxyHooks): Promise<Proxy> {
  const server = createServer((incoming, outgoing) => {
    void serve(target, hooks, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function serve(target: string, hooks: ProxyHooks, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const url = incoming.url ?? "/";
  const call = { method: incoming.method ?? "GET", url, path: url.replace(/\?.*$/, ""), body: body.toString("utf8") };
  const canned = await hooks.before?.(call);
  if (outgoing.destroyed) return;
  if (canned !== undefined) {
    outgoing.writeHead(canned.status, { "content-type": "application/json" }).end(canned.body);
    return;
  }
  const answer = await passOn(new URL(url, target), incoming, body, outgoing);
  await hooks.after?.(call);
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(outgoing);
}

function passOn(url: URL, incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const upstream = forward(url, { method: incoming.method ?? "GET", headers: incoming.headers }, resolve);
    upstream.on("error", reject);
    outgoing.on("close", () => upstream.destroy());
    upstream.end(body);
  });
}
