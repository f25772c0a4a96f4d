import type { Access } from "../acl/access.ts";

/** One request, with or without a socket. */
export interface ApiRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as it came, where it came over a socket. */
  readonly search?: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Text of the body, or a value that stands for its JSON. */
  readonly body: string | object | undefined;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a route says; the server makes an answer of it. */
export interface Reply {
  readonly status?: number;
  /** JSON body; undefined: no body at all. */
  readonly json?: unknown;
  readonly text?: string;
  readonly type?: string;
  /** `X-Nomad-Index`. */
  readonly index?: number | undefined;
  /** Reads also say whether there is a leader, and how old the answer is. */
  readonly read?: boolean;
  /** A read that does not know of a leader. */
  readonly leader?: false;
  readonly nextToken?: string | undefined;
  /** Where a redirect leads. */
  readonly location?: string;
}

/** A request on its way through a route. */
export interface Call {
  readonly request: ApiRequest;
  /** In the region of the query. */
  readonly access: Access;
  /** In the region of this server, for requests whose body may name it. */
  readonly local: Access;
  /** Namespace of the query, else `default`. */
  readonly namespace: string;
}

export type Handler = (call: Call, params: readonly string[]) => Reply | Promise<Reply>;
