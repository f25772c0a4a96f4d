import type { HttpClient } from "isomorphic-git";
import { GitError } from "./git-error.ts";
import { PktLineFraming } from "./pkt-line.ts";

/** A way to one repository for the length of one fetch. Must be closed. */
export interface Transport {
  readonly http: HttpClient;
  /** What isomorphic-git is told; for ssh a placeholder. */
  readonly url: string;
  /** 2 lists only the refs that are asked for, where the server knows it. */
  readonly protocolVersion: 1 | 2;
  /** Sets how many bytes an answer with a pack may have. */
  limitPack(bytes: number): void;
  close(): void;
}

/**
 * Passes an answer on while it counts the bytes and follows the framing.
 *
 * @throws GitError `too_large` beyond `maxBytes`; `unreachable` for a stream that ends early.
 */
export async function* checkedBody(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  where: string,
): AsyncGenerator<Uint8Array> {
  const framing = new PktLineFraming(where);
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new GitError(
        "too_large",
        `${where} sends more than ${formatBytes(maxBytes)}`,
        "keep job files in a repository of their own",
      );
    }
    framing.push(chunk);
    yield chunk;
  }
  framing.finish();
}

/** Bytes for people. */
export function formatBytes(bytes: number): string {
  const mebibytes = bytes / (1024 * 1024);
  return mebibytes >= 1 ? `${Math.round(mebibytes)} MiB` : `${Math.max(1, Math.round(bytes / 1024))} KiB`;
}
