import { GitError, quoteRemote } from "./git-error.ts";

/**
 * Follows the framing of a git answer as it streams by. An answer must end with a flush-pkt: a stream that was cut cleanly
 * would otherwise pass for a whole one (libraries §2.2, trap 4).
 */
export class PktLineFraming {
  #header = "";
  /** Bytes of the packet still to come. */
  #rest = 0;
  #start = Buffer.alloc(0);
  #flushed = false;
  readonly #where: string;

  /** `where` names the repository in messages. */
  constructor(where: string) {
    this.#where = where;
  }

  /** @throws GitError `bad_answer` when this is no git stream, or the server reports an error in it. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#rest > 0) {
        const taken = Math.min(this.#rest, chunk.length - at);
        if (this.#start.length < 200)
          this.#start = Buffer.concat([this.#start, chunk.subarray(at, Math.min(at + taken, at + 200))]);
        this.#rest -= taken;
        at += taken;
        if (this.#rest === 0) this.#endPacket();
        continue;
      }
      this.#header += String.fromCharCode(chunk[at++] ?? 0);
      if (this.#header.length === 4) this.#beginPacket();
    }
  }

  /** @throws GitError `unreachable` when the stream ended early. */
  finish(): void {
    if (this.#flushed && this.#rest === 0 && this.#header === "") return;
    throw new GitError("unreachable", `the answer of ${this.#where} broke off in the middle`, "nops tries again by itself");
  }

  #beginPacket(): void {
    if (!/^[0-9a-f]{4}$/i.test(this.#header)) {
      throw new GitError("bad_answer", `${this.#where} does not answer as a git server does`, "check the URL");
    }
    const length = Number.parseInt(this.#header, 16);
    this.#header = "";
    this.#flushed = length === 0;
    this.#start = Buffer.alloc(0);
    // 0 to 3 are marks without content; 4 is an empty packet.
    this.#rest = Math.max(0, length - 4);
  }

  #endPacket(): void {
    const text = this.#start.toString("utf8");
    const report = text.startsWith("ERR ") ? text.slice(4) : this.#start[0] === 3 ? text.slice(1) : undefined;
    if (report === undefined) return;
    throw new GitError("bad_answer", `${this.#where} reports: ${quoteRemote(report)}`);
  }
}
