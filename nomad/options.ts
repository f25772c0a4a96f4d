import type { Clock, Random } from "../model/clock.ts";
import type { Log } from "../model/log.ts";
import type { FileReader } from "./watched-file.ts";

/** How the server is proved and how we prove ourselves. Files are read again when they change. */
export interface NomadTlsOptions {
  /** PEM file with the authorities to trust instead of the system's. */
  readonly caFile?: string | undefined;
  /** PEM files of the client certificate; both or none. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Name that the server's certificate must carry, when it is not the host of the address (`server.global.nomad`). */
  readonly serverName?: string | undefined;
  /** Accepts any certificate. For trials only. */
  readonly skipVerify?: boolean | undefined;
}

/** One HTTP exchange as metrics want it: no path, no identifiers, so that labels stay few; `failure` is for people. */
export interface RequestObservation {
  readonly operation: string;
  readonly method: string;
  /** HTTP status; `undefined` when no whole answer came. */
  readonly status: number | undefined;
  /** Why no whole answer came, in words, with the address. */
  readonly failure: string | undefined;
  readonly durationMs: number;
}

/** What a Nomad client needs. Only `address`, `clock` and `random` are required. */
export interface NomadClientOptions {
  /** `http://host:4646`, `https://…`, `unix:///path/api.sock` or `http+unix://%2Fpath%2Fapi.sock`. Never with credentials in it. */
  readonly address: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log | undefined;
  /** ACL secret or workload-identity JWT. `tokenFile` wins. */
  readonly token?: string | undefined;
  /** File that holds the token; looked at before each request and read again when it changed (design D23). */
  readonly tokenFile?: string | undefined;
  /** Exchange the token (a JWT) for an ACL token by this auth method, and again before that one expires. */
  readonly loginAuthMethod?: string | undefined;
  /** Empty or absent: the agent's own region. */
  readonly region?: string | undefined;
  readonly tls?: NomadTlsOptions | undefined;
  /** Calls in flight, at most 24 (default 16). Blocking queries and event streams are not counted. */
  readonly concurrency?: number | undefined;
  /** Milliseconds that a call may take, retries included (default 30,000). */
  readonly timeoutMs?: number | undefined;
  /** Bytes of one answer after decompression (default 64 MiB). */
  readonly maxAnswerBytes?: number | undefined;
  /** Jobs asked for in one page of a list (default 10,000). */
  readonly pageSize?: number | undefined;
  /** Where token and certificate files are read. Default: the file system. */
  readonly files?: FileReader | undefined;
  /** Told about every exchange. Must not throw. */
  readonly onRequest?: ((observation: RequestObservation) => void) | undefined;
}
