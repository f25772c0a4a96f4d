import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import got, { type HttpsOptions } from "got";
import type { Agents } from "./agents.ts";
import type { ExchangeFailure } from "./errors.ts";

export type Method = "GET" | "PUT" | "POST" | "DELETE";

/** One HTTP request, ready to be sent. */
export interface Outgoing {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly agents: Agents;
  readonly https: HttpsOptions | undefined;
  readonly decompress: boolean;
}

/** A whole answer, whatever its status. */
export interface Incoming {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Exchanged =
  | { readonly ok: true; readonly answer: Incoming }
  | { readonly ok: false; readonly failure: ExchangeFailure };

/** Lets the caller end an exchange; the first call decides. */
export interface Stopper {
  onStop(stop: (reason: "deadline" | "aborted") => void): void;
}

// A server that refuses our certificate under TLS 1.3 says so after the handshake, but it never read the request.
const REFUSED_BY_TLS = /^(ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/**
 * Sends one request and collects the answer, counting bytes after decompression so that a small bomb cannot become a
 * large buffer (S75). Never throws, never retries, follows no redirect; the caller judges the status.
 */
export function exchange(out: Outgoing, maxBytes: number, stopper: Stopper): Promise<Exchanged> {
  return new Promise((resolve) => {
    const { stream, progress } = open(out);
    const chunks: Buffer[] = [];
    let size = 0;
    let settled = false;

    function settle(result: Exchanged): void {
      if (settled) return;
      settled = true;
      resolve(result);
      stream.destroy();
    }
    function fail(reason: ExchangeFailure["reason"], code?: string): void {
      settle({ ok: false, failure: { reason, sent: progress.sent, code, status: progress.status } });
    }

    stream.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) fail("too_large");
      else chunks.push(chunk);
    });
    stream.once("end", () => {
      const { status, headers } = progress;
      if (status === undefined) fail("network");
      else
        settle({
          ok: true,
          answer: { status, headers, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) },
        });
    });
    stream.on("error", (error: unknown) => {
      const code = codeOf(error);
      if (code !== undefined && REFUSED_BY_TLS.test(code)) progress.sent = false;
      fail("network", code);
    });
    stream.once("close", () => fail("network"));
    stopper.onStop((reason) => fail(reason));
  });
}

/** A stream of answer bytes whose head has come, or why none came. */
export type Opened =
  | { readonly ok: true; readonly status: number; readonly headers: IncomingHttpHeaders; readonly stream: Duplex }
  | { readonly ok: false; readonly failure: ExchangeFailure };

/** Sends one request and hands over the answer's body as it comes. The caller destroys the stream. Never throws. */
export function openStream(out: Outgoing, stopper: Stopper): Promise<Opened> {
  return new Promise((resolve) => {
    const { stream, progress } = open(out);
    let settled = false;
    function fail(reason: ExchangeFailure["reason"], code?: string): void {
      if (settled) return;
      settled = true;
      resolve({ ok: false, failure: { reason, sent: progress.sent, code, status: progress.status } });
      stream.destroy();
    }
    stream.once("response", () => {
      if (settled) return;
      settled = true;
      resolve({ ok: true, status: progress.status ?? 0, headers: progress.headers, stream });
    });
    // Stays on for the whole life of the stream: an error without a listener would end the process.
    stream.on("error", (error: unknown) => fail("network", codeOf(error)));
    stream.once("close", () => fail("network"));
    stopper.onStop((reason) => fail(reason));
  });
}

/** What is known of an exchange while it runs. */
interface Progress {
  sent: boolean;
  status: number | undefined;
  headers: IncomingHttpHeaders;
}

function open(out: Outgoing): { readonly stream: Duplex; readonly progress: Progress } {
  const progress: Progress = { sent: false, status: undefined, headers: {} };
  const stream = got.stream(out.url, {
    method: out.method,
    headers: { ...out.headers },
    // Without a body got would wait for one to be piped in.
    ...(out.method === "GET" ? {} : { body: out.body ?? "" }),
    agent: { http: out.agents.http, https: out.agents.https },
    ...(out.https === undefined ? {} : { https: out.https }),
    decompress: out.decompress,
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  stream.once("request", (request) => {
    if (request.reusedSocket) progress.sent = true;
    request.once("socket", (socket: Socket) => {
      if (!socket.connecting) progress.sent = true;
      else socket.once(out.url.startsWith("https:") ? "secureConnect" : "connect", () => (progress.sent = true));
    });
  });
  stream.once("response", (response: { readonly statusCode: number; readonly headers: IncomingHttpHeaders }) => {
    progress.sent = true;
    progress.status = response.statusCode;
    progress.headers = response.headers;
  });
  return { stream, progress };
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error !== null && typeof error === "object" && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
