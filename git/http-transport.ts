import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { GitHttpRequest, GitHttpResponse } from "isomorphic-git";
import { guardedLookup, isRefusedAddress, refusedAddressCode } from "./address.ts";
import { GitError } from "./git-error.ts";
import type { GitLimits } from "./limits.ts";
import { checkedBody, type Transport } from "./transport.ts";

export interface HttpTransportOptions {
  /** Without user part. */
  readonly url: string;
  readonly username: string;
  readonly token: string | undefined;
  /** PEM; added to the system's authorities. */
  readonly certificateAuthority: string | undefined;
  readonly limits: GitLimits;
  readonly signal: AbortSignal;
}

/**
 * Smart HTTP for isomorphic-git with what its own client lacks (libraries §2.2, trap 5): idle limit, byte limit, abort,
 * credentials at once instead of after a 401, no redirects (reliability S73), guarded name resolution, own authorities.
 * Every failure is a `GitError`; none tells the token.
 */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const secure = options.url.startsWith("https:");
  const agent = secure
    ? new HttpsAgent({
        keepAlive: true,
        ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
      })
    : new HttpAgent({ keepAlive: true });
  let packBytes = options.limits.packBytes;

  async function request({ url, method = "GET", headers = {}, body }: GitHttpRequest): Promise<GitHttpResponse> {
    // An address needs no look-up, so it would pass the guarded one by.
    if (isRefusedAddress(new URL(url).hostname)) throw refusedAddress(options.url);
    const content = body === undefined ? undefined : await collect(body);
    const sent = await send(options, agent, url, method, { ...headers, ...authorization(options) }, content);
    const kind = method === "GET" ? "advertisement" : "result";
    await refuseOtherAnswers(sent.response, options, `application/x-git-upload-pack-${kind}`);
    const lists = method === "GET" || headers["Git-Protocol"] === "version=2";
    const bytes = translated(
      checkedBody(sent.response, lists ? options.limits.refsBytes : packBytes, options.url),
      options,
      sent,
    );
    return {
      url,
      method,
      statusCode: 200,
      statusMessage: "OK",
      headers: { "content-type": sent.response.headers["content-type"] ?? "" },
      // isomorphic-git takes a list of refs that breaks off for a whole one, so it gets lists only when they are complete.
      body: lists ? single(await collect(bytes)) : bytes,
    };
  }

  return {
    http: { request },
    url: options.url,
    protocolVersion: 2,
    limitPack(bytes) {
      packBytes = Math.min(bytes, options.limits.packBytes);
    },
    close() {
      agent.destroy();
    },
  };
}

async function collect(body: AsyncIterable<Uint8Array> | AsyncIterator<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  // isomorphic-git types this as an async iterator, but also hands arrays over.
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* single(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function authorization({ username, token }: HttpTransportOptions): Record<string, string> {
  if (token === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${token}`).toString("base64")}` };
}

interface Sent {
  readonly response: IncomingMessage;
  /** Why we ended the connection ourselves: the body's reader only sees that it broke. */
  readonly given: { reason: GitError | undefined };
}

function send(
  options: HttpTransportOptions,
  agent: HttpAgent | HttpsAgent,
  url: string,
  method: string,
  headers: Record<string, string>,
  content: Buffer | undefined,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith("https:") ? requestHttps : requestHttp;
    const request = start(url, {
      method,
      agent,
      signal: options.signal,
      lookup: guardedLookup,
      timeout: options.limits.idleMs,
      headers: {
        ...headers,
        "user-agent": "git/nops",
        "accept-encoding": "identity",
        ...(content === undefined ? {} : { "content-length": String(content.length) }),
      },
    });
    const given: Sent["given"] = { reason: undefined };
    // Stays for the body too: the socket's silence is what counts, before and after the headers.
    request.on("timeout", () => {
      given.reason = idle(options);
      request.destroy(given.reason);
    });
    request.on("error", (error) => reject(translate(error, options)));
    request.on("response", (response) => resolve({ response, given }));
    request.end(content);
  });
}

function idle({ url, limits }: HttpTransportOptions): GitError {
  return new GitError("timeout", `${url} was silent for ${limits.idleMs / 1000} s`, "nops tries again by itself");
}

async function* translated(
  body: AsyncIterable<Uint8Array>,
  options: HttpTransportOptions,
  { given }: Sent,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw translate(given.reason ?? error, options);
  }
}

async function refuseOtherAnswers(response: IncomingMessage, { url, token }: HttpTransportOptions, type: string): Promise<void> {
  const status = response.statusCode ?? 0;
  const given = response.headers["content-type"]?.split(";")[0]?.trim();
  if (status === 200 && given === type && response.headers["content-encoding"] === undefined) return;
  response.destroy();
  if (status >= 300 && status < 400) throw redirected(url, response.headers.location);
  if (status === 401 || status === 403) {
    const why =
      token === undefined
        ? "asks for credentials, and none are configured"
        : `does not accept the configured token (HTTP ${status})`;
    throw new GitError("not_permitted", `${url} ${why}`, "set token_file (and username where the forge wants a certain one)");
  }
  if (status === 404) {
    throw new GitError(
      "not_found",
      `${url} does not exist, or not for this token (HTTP 404)`,
      "check the URL and what the token may read",
    );
  }
  if (status !== 200) throw new GitError("unreachable", `${url} answered HTTP ${status}`, "nops tries again by itself");
  throw new GitError(
    "bad_answer",
    `${url} is no git repository: it answers with ${given ?? "something without a type"}`,
    "check the URL",
  );
}

function redirected(url: string, location: string | undefined): GitError {
  let target = "elsewhere";
  try {
    const parsed = new URL(location ?? "", url);
    target = `to ${parsed.origin}${parsed.pathname.replace(/\/info\/refs$/, "")}`;
  } catch {
    // A location that cannot be read is not worth showing.
  }
  return new GitError(
    "redirected",
    `${url} redirects ${target}, and nops follows no redirects`,
    "set url to the repository's own address",
  );
}

function refusedAddress(url: string): GitError {
  return new GitError(
    "configuration",
    `${url} leads to a link-local, metadata or unusable address, which nops does not contact`,
    "check the URL",
  );
}

const networkErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses the connection",
  ECONNRESET: "broke the connection off",
  EPIPE: "broke the connection off",
  ENOTFOUND: "cannot be found: the host name does not resolve",
  EAI_AGAIN: "cannot be found: name resolution fails at the moment",
  ETIMEDOUT: "does not answer",
  EHOSTUNREACH: "cannot be reached: no route to the host",
  ENETUNREACH: "cannot be reached: no route to the network",
};

function translate(error: unknown, { url, signal }: HttpTransportOptions): GitError {
  if (error instanceof GitError) return error;
  if (signal.aborted) return new GitError("aborted", `reading ${url} was given up`);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === refusedAddressCode) {
    return new GitError(
      "configuration",
      `${url} leads to a link-local or metadata address, which nops does not contact`,
      "check the URL",
    );
  }
  const known = networkErrors[code];
  if (known !== undefined) return new GitError("unreachable", `${url} ${known}`, "nops tries again by itself");
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER|ALTNAME/.test(code)) {
    return new GitError(
      "unreachable",
      `no secure connection to ${url} (${code})`,
      "check the certificate; a private authority goes into NODE_EXTRA_CA_CERTS",
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  return new GitError("unreachable", `reading ${url} failed: ${message}`, "nops tries again by itself");
}
