import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { GitHttpRequest, GitHttpResponse } from "isomorphic-git";
import { GitError } from "./git-error.ts";
import type { GitLimits } from "./limits.ts";
import { checkedBody, type Transport } from "./transport.ts";

/** A running `git-upload-pack` on the other side. */
export interface UploadPackStream {
  readonly stream: Duplex;
  /** What the other side wrote to its standard error so far. */
  errorText(): string;
  /** Why we ended the connection ourselves, if we did. */
  brokenBy(): GitError | undefined;
  close(): void;
}

/**
 * Lets isomorphic-git, which only speaks HTTP, talk to a server that speaks git's stateful protocol over one stream: the list of
 * refs is what the server says first, the pack is its answer to the request. One connection serves a look at the refs and the fetch
 * that may follow.
 */
export function createDuplexTransport(options: {
  readonly where: string;
  readonly limits: GitLimits;
  open(): Promise<UploadPackStream>;
  /** The most telling reason for a broken stream. */
  explain(errorText: string, error: unknown): GitError;
}): Transport {
  const { where, limits } = options;
  let opened: UploadPackStream | undefined;
  let chunks: AsyncIterator<Buffer> | undefined;
  let advertisement: Buffer | undefined;
  let rest = Buffer.alloc(0);
  let packBytes = limits.packBytes;
  let asked = false;

  function reset(): void {
    opened?.close();
    opened = undefined;
    advertisement = undefined;
    rest = Buffer.alloc(0);
    asked = false;
  }

  function explain(error: unknown): GitError {
    return opened?.brokenBy() ?? options.explain(opened?.errorText() ?? "", error);
  }

  async function nextChunk(): Promise<Buffer | undefined> {
    try {
      const result = await chunks?.next();
      return result === undefined || result.done === true ? undefined : result.value;
    } catch (error) {
      throw explain(error);
    }
  }

  /** Reads packets up to and with the flush-pkt that ends the list. */
  async function readAdvertisement(): Promise<Buffer> {
    for (let at = 0; ; ) {
      while (rest.length < at + 4) await readMore();
      const header = rest.toString("latin1", at, at + 4);
      if (!/^[0-9a-f]{4}$/i.test(header))
        throw new GitError("bad_answer", `${where} does not answer as a git server does`, "check the URL");
      const length = Number.parseInt(header, 16);
      at += Math.max(4, length);
      while (rest.length < at) await readMore();
      if (length !== 0) continue;
      const refs = rest.subarray(0, at);
      rest = rest.subarray(at);
      return refs;
    }
  }

  async function readMore(): Promise<void> {
    const chunk = await nextChunk();
    if (chunk === undefined) throw explain(undefined);
    rest = Buffer.concat([rest, chunk]);
    if (rest.length > limits.refsBytes) throw new GitError("too_large", `${where} lists too many refs`);
  }

  async function* answer(): AsyncGenerator<Buffer> {
    if (rest.length > 0) yield rest;
    for (let chunk = await nextChunk(); chunk !== undefined; chunk = await nextChunk()) yield chunk;
  }

  async function* single(bytes: Buffer): AsyncGenerator<Uint8Array> {
    yield Buffer.concat([Buffer.from("001e# service=git-upload-pack\n0000"), bytes]);
  }

  async function request({ url, method = "GET", body }: GitHttpRequest): Promise<GitHttpResponse> {
    const response = { url, method, statusCode: 200, statusMessage: "OK" };
    if (method === "GET") {
      // The server leaves after one pack; whoever asks again gets a new connection.
      if (asked) reset();
      if (opened === undefined) {
        opened = await options.open();
        chunks = opened.stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
      }
      advertisement ??= await readAdvertisement();
      return {
        ...response,
        headers: { "content-type": "application/x-git-upload-pack-advertisement" },
        body: single(advertisement),
      };
    }
    if (opened === undefined || asked) throw new GitError("bad_answer", `${where} was asked for a pack before its refs`);
    asked = true;
    for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
      if (!opened.stream.write(part)) await once(opened.stream, "drain");
    }
    return {
      ...response,
      headers: { "content-type": "application/x-git-upload-pack-result" },
      body: checkedBody(answer(), packBytes, where),
    };
  }

  return {
    http: { request },
    url: "http://ssh.invalid/repository",
    // The version is agreed on by HTTP headers only.
    protocolVersion: 1,
    limitPack(bytes) {
      packBytes = Math.min(bytes, limits.packBytes);
    },
    close() {
      // Tells a waiting server that nothing is wanted, so that it does not log a broken connection.
      if (opened !== undefined && !asked && opened.stream.writable) opened.stream.write("0000");
      opened?.close();
    },
  };
}
