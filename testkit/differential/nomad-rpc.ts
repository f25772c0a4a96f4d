import { connect, type Socket } from "node:net";
import { type Packable, pack, unpack } from "./message-pack.ts";

/** The first byte of a connection: plain calls, one after another. */
const plainCalls = 0x01;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Speaks to a server as its clients do, over the RPC port and without TLS. Lets a test be the client of nodes that do not exist, and
 * so decide itself how their allocations fare.
 */
export class NomadRpc {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #seq = 0;
  #bytes: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#end(error));
    socket.on("close", () => this.#end(new Error("the server closed the connection")));
  }

  static async open(port: number, host = "127.0.0.1"): Promise<NomadRpc> {
    const socket = connect(port, host);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    socket.setNoDelay(true);
    socket.write(Buffer.from([plainCalls]));
    return new NomadRpc(socket);
  }

  /** Calls a method and gives its reply. Rejects with the server's text, or when the connection ends. */
  call(ServiceMethod: string, body: Packable): Promise<unknown> {
    const Seq = ++this.#seq;
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(Seq, { resolve, reject }));
    this.#socket.write(Buffer.concat([pack({ ServiceMethod, Seq }), pack(body)]));
    return answer;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const header = unpack(this.#bytes, 0);
      const body = header && unpack(this.#bytes, header.end);
      if (header === undefined || body === undefined) return;
      this.#bytes = this.#bytes.subarray(body.end);
      const { Seq, Error: problem } = header.value as { readonly Seq: number; readonly Error: string };
      const waiting = this.#waiting.get(Seq);
      this.#waiting.delete(Seq);
      if (problem === "") waiting?.resolve(body.value);
      else waiting?.reject(new Error(problem));
    }
  }

  #end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
