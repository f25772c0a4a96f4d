/** Puts the application on a socket with the limits of a server that faces people (reliability §2.4, S36, S70). */
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { NopsError } from "../model/errors.ts";

export interface Listening {
  /** `http://HOST:PORT` with the port that was really taken. */
  readonly address: string;
  /** Stops accepting, ends idle connections, waits at most `graceMs` for the rest. */
  close(graceMs: number): Promise<void>;
}

/** How long a client may take, ms. */
export interface RequestLimits {
  readonly headersMs: number;
  readonly requestMs: number;
}

/** @throws NopsError `listen_failed` when the address cannot be taken. */
export async function listen(
  app: { fetch: (request: Request) => Response | Promise<Response> },
  host: string,
  port: number,
  limits: RequestLimits = { headersMs: 10_000, requestMs: 30_000 },
): Promise<Listening> {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: 10_000,
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => void answer(request, response),
  );
  server.maxConnections = 512;
  await bind(server, host, port);
  const bound = server.address();
  const actualPort = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`,
    close: (graceMs) => close(server, graceMs),
  };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const hint =
        error.code === "EADDRINUSE"
          ? "another program listens there; choose another address with --listen"
          : "choose another address with --listen";
      reject(
        new NopsError(`cannot listen on ${host}:${port}: ${error.code ?? error.message}`, {
          code: "listen_failed",
          hint,
          cause: error,
        }),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
