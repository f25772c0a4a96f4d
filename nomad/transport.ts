import type { Duplex } from "node:stream";
import type { HttpsOptions } from "got";
import PQueue from "p-queue";
import { NomadError } from "../model/errors.ts";
import { type NomadAddress, parseNomadAddress } from "./address.ts";
import { type Agents, createAgents, MAX_CALL_SOCKETS, MAX_LONG_SOCKETS } from "./agents.ts";
import { type Decoding, decodeAnswer, headerText, type NomadAnswer, type Shape } from "./answer.ts";
import { answerError, type Effect, failureError, failureWords } from "./errors.ts";
import { type Exchanged, exchange, type Incoming, type Method, type Outgoing, openStream, type Stopper } from "./exchange.ts";
import { encodeExact } from "./json.ts";
import { loginToken } from "./login.ts";
import type { NomadClientOptions } from "./options.ts";
import { MAX_RETRIES, retryAfterMs, retryableAnswer, retryDelayMs } from "./retry.ts";
import { createTls } from "./tls.ts";
import { configuredToken, type TokenSource } from "./token.ts";

/** A list becomes one parameter per item. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** One call as the resource files describe it. */
export interface NomadRequest {
  /** Label of metrics, in snake_case. */
  readonly operation: string;
  /** The call in words, for messages: "read job default/web". */
  readonly what: string;
  readonly effect: Effect;
  readonly method: Method;
  /** Begins with `/v1/`; parts are percent-encoded already. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly decoding?: Decoding;
  /** Default `object`, or `any` when the decoding is no JSON. */
  readonly shape?: Shape;
  /**
   * Nomad's words in a 404 that mean "there is no such object": the call then succeeds with `undefined`. A 404 in other
   * words (a proxy, a wrong address) must never pass for an absent job.
   */
  readonly absent?: string;
  /** Milliseconds, retries included. Default: the client's. */
  readonly timeoutMs?: number;
  /** Bytes after decompression. Default: the client's. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
  /** A blocking query: outside the concurrency limit, on connections of its own, never retried. */
  readonly long?: boolean;
  /** Sent without a token (login itself). */
  readonly anonymous?: boolean;
  /** Values of the body that must not show up in an error even if Nomad repeats them. */
  readonly secrets?: readonly string[];
}

/** A body that goes on: the event stream. Ends or fails like any readable; destroy it when done. */
export interface NomadStream {
  readonly stream: Duplex;
}

/** HTTP to one Nomad agent. Every failure is a `NomadError` (model/errors.ts). */
export interface NomadTransport {
  /** Bytes of the largest answer, and jobs per page, as configured. */
  readonly pageSize: number;
  call(request: NomadRequest): Promise<NomadAnswer>;
  /** @throws NomadError when no success came; the deadline covers the head only. */
  stream(request: NomadRequest): Promise<NomadStream>;
  /** Ends all connections; calls in flight fail. */
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const DEFAULT_PAGE = 10_000;
const DEFAULT_CONCURRENCY = 16;

/** Everything an exchange needs beside the request. */
interface Channel {
  readonly options: NomadClientOptions;
  readonly address: NomadAddress;
  readonly calls: Agents;
  readonly long: Agents;
  readonly tls: () => Promise<HttpsOptions | undefined>;
}

/**
 * Opens the way to Nomad; no byte is sent before the first call.
 * GETs are repeated at most twice, and only after answers that promise something from it; nothing else is ever repeated,
 * but for one call after a login that had to be renewed.
 * @throws InvalidRequestError for an address or TLS options that cannot be right.
 */
export function createTransport(options: NomadClientOptions): NomadTransport {
  const address = parseNomadAddress(options.address);
  const channel: Channel = {
    options,
    address,
    calls: createAgents(address, MAX_CALL_SOCKETS),
    long: createAgents(address, MAX_LONG_SOCKETS),
    tls: address.secure ? createTls(options) : async () => undefined,
  };
  const tokens = tokenSource(channel);
  const slots = new PQueue({ concurrency: Math.min(Math.max(1, options.concurrency ?? DEFAULT_CONCURRENCY), MAX_CALL_SOCKETS) });
  return {
    pageSize: options.pageSize ?? DEFAULT_PAGE,
    call: (request) =>
      request.long ? callOnce(channel, tokens, request) : slots.add(() => callWithRetries(channel, tokens, request)),
    stream: (request) => streamOnce(channel, tokens, request),
    close() {
      channel.calls.destroy();
      channel.long.destroy();
    },
  };
}

function tokenSource(channel: Channel): TokenSource {
  const { options } = channel;
  const configured = configuredToken(options);
  const method = options.loginAuthMethod;
  if (method === undefined || method === "") return configured;
  return loginToken(
    configured,
    async (jwt) => {
      const { value } = await callOnce(channel, configured, {
        operation: "login",
        what: `log in by the auth method ${method}`,
        effect: "read",
        method: "POST",
        path: "/v1/acl/login",
        body: { AuthMethodName: method, LoginToken: jwt },
        // A task's own socket lets nobody in without a token, not even to log in (nomad-api §9); elsewhere the JWT goes nowhere else.
        anonymous: channel.address.socketPath === undefined,
        secrets: [jwt],
      });
      const token = value as { readonly SecretID?: string; readonly ExpirationTime?: string | null };
      if (typeof token.SecretID !== "string") throw new NomadError("Nomad's login answer holds no token", { kind: "refused" });
      const expiresAt = Date.parse(token.ExpirationTime ?? "");
      return { secret: token.SecretID, expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt };
    },
    options.clock,
  );
}

async function callWithRetries(channel: Channel, tokens: TokenSource, request: NomadRequest): Promise<NomadAnswer> {
  const { clock, random } = channel.options;
  const deadline = clock.now() + (request.timeoutMs ?? channel.options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  for (let attempt = 1; ; attempt += 1) {
    const timeoutMs = Math.max(1, deadline - clock.now());
    const outcome = await attemptOnce(channel, tokens, { ...request, timeoutMs });
    if (outcome.ok) return outcome.answer;
    const waitMs = retryDelayMs(attempt, outcome.error.retryAfterMs, random);
    const again = request.method === "GET" && outcome.retryable && attempt <= MAX_RETRIES && clock.now() + waitMs < deadline;
    if (!again) throw outcome.error;
    await clock.sleep(waitMs, request.signal).catch(() => {
      throw outcome.error;
    });
  }
}

async function callOnce(channel: Channel, tokens: TokenSource, request: NomadRequest): Promise<NomadAnswer> {
  const outcome = await attemptOnce(channel, tokens, request);
  if (outcome.ok) return outcome.answer;
  throw outcome.error;
}

type Outcome =
  | { readonly ok: true; readonly answer: NomadAnswer }
  | { readonly ok: false; readonly error: NomadError; readonly retryable: boolean };

async function attemptOnce(channel: Channel, tokens: TokenSource, request: NomadRequest): Promise<Outcome> {
  const token = request.anonymous ? undefined : await tokens.current();
  const outcome = await attemptWith(channel, token, request);
  if (outcome.ok || outcome.error.kind !== "not_permitted" || token === undefined || !tokens.rejected(token)) return outcome;
  // A login that Nomad no longer knows: nothing happened, so even a write may go again, once, under a new one.
  const fresh = await tokens.current();
  return fresh === token ? outcome : attemptWith(channel, fresh, request);
}

async function attemptWith(channel: Channel, token: string | undefined, request: NomadRequest): Promise<Outcome> {
  const { clock, maxAnswerBytes } = channel.options;
  const out = await outgoing(channel, token, request);
  const startedAt = clock.now();
  const { stopper, release } = stopAfter(channel, request);
  const exchanged = await exchange(out, request.maxBytes ?? maxAnswerBytes ?? DEFAULT_MAX_BYTES, stopper);
  release();
  observe(channel, request, exchanged, startedAt);
  if (!exchanged.ok) {
    const { failure } = exchanged;
    const retryable = failure.reason === "network" && failure.sent;
    return { ok: false, error: failureError(request, failure, channel.address.display), retryable };
  }
  const { answer } = exchanged;
  const absent = isAbsent(request, answer);
  if (!absent && (answer.status < 200 || answer.status > 299)) return refusal(channel, request, out, token, answer);
  try {
    if (absent) return { ok: true, answer: decodeAnswer(answer, "none", "any") };
    const decoding = request.decoding ?? "json";
    const shape = request.shape ?? (decoding === "text" || decoding === "none" ? "any" : "object");
    return { ok: true, answer: decodeAnswer(answer, decoding, shape) };
  } catch {
    const failure = { reason: "unreadable", sent: true, code: undefined, status: answer.status } as const;
    return { ok: false, error: failureError(request, failure, channel.address.display), retryable: false };
  }
}

function isAbsent(request: NomadRequest, answer: Incoming): boolean {
  return request.absent !== undefined && answer.status === 404 && answer.body.toString("utf8").includes(request.absent);
}

function refusal(channel: Channel, request: NomadRequest, out: Outgoing, token: string | undefined, answer: Incoming): Outcome {
  const text = scrub(answer.body.toString("utf8"), [token, out.body, ...(request.secrets ?? [])]);
  const location = headerText(answer.headers, "location");
  const error = answerError(request, {
    status: answer.status,
    // A conflict on a variable answers with the variable, secrets and all.
    text: text.trimStart().startsWith("{") ? "" : text,
    retryAfterMs: retryAfterMs(headerText(answer.headers, "retry-after"), channel.options.clock),
    ...(location === undefined ? {} : { location }),
  });
  return { ok: false, error, retryable: retryableAnswer(answer.status, text) };
}

async function streamOnce(channel: Channel, tokens: TokenSource, request: NomadRequest): Promise<NomadStream> {
  const token = await tokens.current();
  const out = await outgoing(channel, token, request);
  const startedAt = channel.options.clock.now();
  const { stopper, release } = stopAfter(channel, request);
  const opened = await openStream(out, stopper);
  release();
  if (!opened.ok) {
    observe(channel, request, opened, startedAt);
    throw failureError(request, opened.failure, channel.address.display);
  }
  observe(channel, request, { ok: true, answer: { status: opened.status, headers: {}, body: Buffer.alloc(0) } }, startedAt);
  if (opened.status === 200) return { stream: opened.stream };
  opened.stream.destroy();
  if (token !== undefined && (opened.status === 401 || opened.status === 403)) tokens.rejected(token);
  throw answerError(request, { status: opened.status, text: "", retryAfterMs: undefined });
}

async function outgoing(channel: Channel, token: string | undefined, request: NomadRequest): Promise<Outgoing> {
  const { address, options } = channel;
  const body = request.body === undefined ? undefined : encodeExact(request.body);
  return {
    method: request.method,
    url: `${address.base}${request.path}${queryText(request.query, options.region)}`,
    headers: {
      "user-agent": "nops",
      // Compression pays over a network; on this machine it only costs time, and the stream is never compressed.
      "accept-encoding": address.local ? "identity" : "gzip",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body,
    agents: request.long ? channel.long : channel.calls,
    https: await channel.tls(),
    decompress: true,
  };
}

function queryText(query: Query | undefined, region: string | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const item of typeof value === "object" ? value : [value]) params.append(name, String(item));
  }
  if (region !== undefined && region !== "") params.append("region", region);
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** Ends the exchange at its deadline or when the caller gives up, whichever is first. */
function stopAfter(channel: Channel, request: NomadRequest): { readonly stopper: Stopper; release(): void } {
  const { clock, timeoutMs } = channel.options;
  const { signal } = request;
  let stop: (reason: "deadline" | "aborted") => void = () => {};
  const onAbort = (): void => stop("aborted");
  const timer = clock.setTimer(request.timeoutMs ?? timeoutMs ?? DEFAULT_TIMEOUT_MS, () => stop("deadline"));
  signal?.addEventListener("abort", onAbort);
  return {
    stopper: {
      onStop(fn) {
        stop = fn;
        if (signal?.aborted) fn("aborted");
      },
    },
    release() {
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

function observe(channel: Channel, request: NomadRequest, exchanged: Exchanged, startedAt: number): void {
  const { clock, onRequest } = channel.options;
  onRequest?.({
    operation: request.operation,
    method: request.method,
    status: exchanged.ok ? exchanged.answer.status : undefined,
    failure: exchanged.ok ? undefined : failureWords(exchanged.failure, channel.address.display),
    durationMs: clock.now() - startedAt,
  });
}

/** Takes out what we sent, in case the other side repeats it. Very short values are no secrets and would only garble the text. */
function scrub(text: string, secrets: readonly (string | undefined)[]): string {
  return secrets.reduce<string>(
    (clean, secret) => (secret === undefined || secret.length < 4 ? clean : clean.replaceAll(secret, "[removed]")),
    text,
  );
}
