import { InvalidRequestError } from "../model/errors.ts";

/** Where Nomad listens, taken apart. */
export interface NomadAddress {
  /** Base of every URL, without a slash at the end. For unix sockets a fixed host that only fills the Host header. */
  readonly base: string;
  readonly secure: boolean;
  readonly socketPath: string | undefined;
  /** As messages name it. */
  readonly display: string;
  /** The answer crosses no network, so compressing it would only cost time. */
  readonly local: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Reads an address in any form that Nomad's own tools take (nomad-api §9.5, §15).
 * @throws InvalidRequestError `bad_nomad_address`; the text never repeats the address, it may hold a password (S04).
 */
export function parseNomadAddress(address: string): NomadAddress {
  const socketPath = socketOf(address);
  if (socketPath !== undefined) {
    return { base: "http://127.0.0.1", secure: false, socketPath, display: `unix://${socketPath}`, local: true };
  }
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw badAddress("is neither an http(s) URL nor a unix socket");
  }
  if (url.username !== "" || url.password !== "") throw badAddress("holds credentials; use a token file");
  if (url.search !== "" || url.hash !== "") throw badAddress("holds a query or a fragment");
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  return {
    base,
    secure: url.protocol === "https:",
    socketPath: undefined,
    display: base,
    local: LOOPBACK.test(url.hostname),
  };
}

function socketOf(address: string): string | undefined {
  if (address.startsWith("unix://")) return address.slice("unix://".length);
  if (!address.startsWith("http+unix://")) return undefined;
  try {
    return decodeURIComponent(address.slice("http+unix://".length).replace(/\/+$/, ""));
  } catch {
    throw badAddress("holds a socket path that is not percent-encoded");
  }
}

function badAddress(what: string): InvalidRequestError {
  return new InvalidRequestError(`the Nomad address ${what}`, {
    code: "bad_nomad_address",
    hint: "write http://host:4646, https://host:4646 or unix:///path/api.sock",
  });
}
