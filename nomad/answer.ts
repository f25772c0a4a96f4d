import type { IncomingHttpHeaders } from "node:http";
import type { Incoming } from "./exchange.ts";
import { decodeExact } from "./json.ts";

/**
 * How a body is read: `json` fast; `exact` keeps every digit of integers (json.ts), for jobs, which travel back to Nomad;
 * `text` as it is; `none` ignores it.
 */
export type Decoding = "json" | "exact" | "text" | "none";

/** What the value must be: anything else is not Nomad's answer. A list that Nomad writes as `null` becomes `[]`. */
export type Shape = "object" | "list" | "any";

/** A successful answer. */
export interface NomadAnswer {
  readonly value: unknown;
  /** `X-Nomad-Index`; 0 when there was none. */
  readonly index: number;
  /** First item of the next page of a list; `undefined` on the last page. */
  readonly nextToken: string | undefined;
  /** `Date` header in milliseconds since the epoch, for the clock check of `nops doctor`. */
  readonly date: number | undefined;
}

/** @throws SyntaxError or TypeError when the body is not what `decoding` and `shape` promise. */
export function decodeAnswer(answer: Incoming, decoding: Decoding, shape: Shape): NomadAnswer {
  const index = Number(headerText(answer.headers, "x-nomad-index") ?? 0);
  const date = Date.parse(headerText(answer.headers, "date") ?? "");
  return {
    value: shaped(decodeBody(answer.body, decoding), shape),
    index: Number.isFinite(index) ? index : 0,
    nextToken: headerText(answer.headers, "x-nomad-nexttoken") || undefined,
    date: Number.isNaN(date) ? undefined : date,
  };
}

function shaped(value: unknown, shape: Shape): unknown {
  if (shape === "any") return value;
  if (shape === "list") {
    if (value === null) return [];
    if (Array.isArray(value)) return value;
  } else if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    return value;
  }
  throw new TypeError(`not of the shape ${shape}`);
}

function decodeBody(body: Buffer, decoding: Decoding): unknown {
  switch (decoding) {
    case "none":
      return undefined;
    case "text":
      return body.toString("utf8");
    case "json":
      return JSON.parse(body.toString("utf8"));
    case "exact":
      return decodeExact(body.toString("utf8"));
  }
}

/** One header as text. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
