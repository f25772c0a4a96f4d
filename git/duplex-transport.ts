import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { GitHttpRequest, GitHttpResponse, HttpClient } from "isomorphic-git";
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

export interface DuplexTransportOptions {
  readonly where: string;
  readonly limits: GitLimits;
  open(): Promise<UploadPackStream>;
  /** The most telling reason for a broken stream. */
  explain(errorText: string, error: unknown): GitError;
}

/** One connection: the list of refs, then at most one pack. */
interface Connection {
  readonly peer: UploadPackStream;
  readonly chunks: AsyncIterator<Buffer>;
  /** Read, but not yet used. */
  rest: Buffer;
  advertisement: Buffer | undefined;
  /** The server leaves after one pack. */
  asked: boolean;
}

const headers = (kind: string) => ({ "content-type": `application/x-git-upload-pack-${kind}` });

/**
 * Lets isomorphic-git, which only speaks HTTP, talk to a server that speaks git's stateful protocol over one stream: the list of
 * refs is what the server says first, the pack is its answer to the request. One connection serves a look at the refs and the fetch
 * that may follow.
 */
export function createDuplexTransport(options: DuplexTransportOptions): Transport {
  return new DuplexTransport(options);
}

class DuplexTransport implements Transport {
  readonly http: HttpClient = { request: (request) => this.#request(request) };
  readonly url = "http://ssh.invalid/repository";
  /** Versions are agreed on by HTTP headers only. */
  readonly protocolVersion = 1;
  readonly #options: DuplexTransportOptions;
  #packBytes: number;
  #connection: Connection | undefined;

  constructor(options: DuplexTransportOptions) {
    this.#options = options;
    this.#packBytes = options.limits.packBytes;
  }

  limitPack(bytes: number): void {
    this.#packBytes = Math.min(bytes, this.#options.limits.packBytes);
  }

  close(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection === undefined) return;
    // Tells a waiting server that nothing is wanted, so that it does not log a broken connection.
    if (!connection.asked && connection.peer.stream.writable) connection.peer.stream.write("0000");
    connection.peer.close();
  }

  async #request({ url, method = "GET", body }: GitHttpRequest): Promise<GitHttpResponse> {
    const { where } = this.#options;
    const response = { url, method, statusCode: 200, statusMessage: "OK" };
    if (method === "GET") {
      const connection = await this.#connect();
      connection.advertisement ??= await this.#readAdvertisement(connection);
      const greeting = Buffer.from("001e# service=git-upload-pack\n0000");
      return {
        ...response,
        headers: headers("advertisement"),
        body: single(Buffer.concat([greeting, connection.advertisement])),
      };
    }
    const connection = this.#connection;
    if (connection === undefined || connection.asked)
      throw new GitError("bad_answer", `${where} was asked for a pack before its refs`);
    connection.asked = true;
    for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
      if (!connection.peer.stream.write(part)) await once(connection.peer.stream, "drain");
    }
    return { ...response, headers: headers("result"), body: checkedBody(this.#answer(connection), this.#packBytes, where) };
  }

  async #connect(): Promise<Connection> {
    if (this.#connection?.asked === true) this.close();
    if (this.#connection === undefined) {
      const peer = await this.#options.open();
      const chunks = peer.stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
      this.#connection = { peer, chunks, rest: Buffer.alloc(0), advertisement: undefined, asked: false };
    }
    return this.#connection;
  }

  /** Reads packets up to and with the flush-pkt that ends the list. */
  async #readAdvertisement(connection: Connection): Promise<Buffer> {
    const { where } = this.#options;
    for (let at = 0; ; ) {
      while (connection.rest.length < at + 4) await this.#readMore(connection);
      const header = connection.rest.toString("latin1", at, at + 4);
      if (!/^[0-9a-f]{4}$/i.test(header))
        throw new GitError("bad_answer", `${where} does not answer as a git server does`, "check the URL");
      const length = Number.parseInt(header, 16);
      at += Math.max(4, length);
      while (connection.rest.length < at) await this.#readMore(connection);
      if (length !== 0) continue;
      const refs = connection.rest.subarray(0, at);
      connection.rest = connection.rest.subarray(at);
      return refs;
    }
  }

  async #readMore(connection: Connection): Promise<void> {
    const chunk = await this.#next(connection);
    if (chunk === undefined) throw this.#explain(connection, undefined);
    connection.rest = Buffer.concat([connection.rest, chunk]);
    if (connection.rest.length > this.#options.limits.refsBytes)
      throw new GitError("too_large", `${this.#options.where} lists too many refs`);
  }

  async *#answer(connection: Connection): AsyncGenerator<Buffer> {
    if (connection.rest.length > 0) yield connection.rest;
    for (let chunk = await this.#next(connection); chunk !== undefined; chunk = await this.#next(connection)) yield chunk;
  }

  async #next(connection: Connection): Promise<Buffer | undefined> {
    try {
      const result = await connection.chunks.next();
      return result.done === true ? undefined : result.value;
    } catch (error) {
      throw this.#explain(connection, error);
    }
  }

  #explain({ peer }: Connection, error: unknown): GitError {
    return peer.brokenBy() ?? this.#options.explain(peer.errorText(), error);
  }
}

async function* single(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
