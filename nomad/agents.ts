import http from "node:http";
import https from "node:https";
import { connect } from "node:net";
import type { NomadAddress } from "./address.ts";

/** Nomad allows 100 connections per address of origin (nomad-api §11); we take fewer than half of them. */
export const MAX_CALL_SOCKETS = 24;
export const MAX_LONG_SOCKETS = 24;

// Shorter than what proxies and load balancers use, so that a write seldom meets a connection that is just being closed.
const IDLE_SOCKET_MS = 30_000;

/** Connections of one kind. */
export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  destroy(): void;
}

/** Keep-alive connections, at most `maxSockets` of them. A unix socket is dialled whatever host the URL names. */
export function createAgents(address: NomadAddress, maxSockets: number): Agents {
  const options = {
    keepAlive: true,
    maxSockets,
    maxTotalSockets: maxSockets,
    maxFreeSockets: maxSockets,
    timeout: IDLE_SOCKET_MS,
  };
  const plain = new http.Agent(options);
  const { socketPath } = address;
  if (socketPath !== undefined) Object.assign(plain, { createConnection: () => connect({ path: socketPath }) });
  const secure = new https.Agent(options);
  return {
    http: plain,
    https: secure,
    destroy() {
      plain.destroy();
      secure.destroy();
    },
  };
}
