import { Agent, request as send } from "node:http";

/** One request as it goes over the wire. Path, body and headers may name ids as `{{eval:default/web/0}}`: each server has its own. */
export interface Request {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The list is read to its end, page by page: where its rows are cut is left to their random ids. */
  readonly walk?: boolean;
  /** The server orders what it answers by random ids. */
  readonly unordered?: boolean;
}

export interface RawAnswer {
  /** 0: the server hung up, as it does when a handler of it panics. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const patienceMs = 20_000;

/** Asks a server over a socket. */
export function askOver(
  address: string,
  { method, path, body, headers }: Pick<Request, "method" | "path" | "body" | "headers">,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    // Not every method has a body by itself: its length must be told.
    const length = text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) };
    const outgoing = send(
      { hostname, port, path, method, agent, headers: { ...length, ...headers }, timeout: patienceMs },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming.on("data", (part: Buffer) => parts.push(part));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const plain = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(plain),
            body: Buffer.concat(parts).toString("utf8"),
          });
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer to ${method} ${path} within ${patienceMs} ms`)));
    outgoing.on("error", (error) => {
      if ((error as NodeJS.ErrnoException).code === "ECONNRESET") resolve({ status: 0, headers: {}, body: "" });
      else reject(error);
    });
    outgoing.end(text);
  });
}

/** Ends the connections that were kept. */
export function closeConnections(): void {
  agent.destroy();
}
