import type { NomadTransport } from "./transport.ts";

// The server counts bytes of the file; a little more may arrive when the task writes meanwhile.
const SLACK_BYTES = 256 * 1024;

/** Last `maxBytes` bytes of a task's log, cut at a character boundary. Empty when the task wrote nothing. */
export async function readLogTail(
  transport: NomadTransport,
  namespace: string,
  allocationId: string,
  task: string,
  stream: "stdout" | "stderr",
  maxBytes: number,
): Promise<string> {
  const { value } = await transport.call({
    operation: "read_logs",
    what: `read ${stream} of task ${task} in allocation ${allocationId}`,
    effect: "read",
    method: "GET",
    path: `/v1/client/fs/logs/${encodeURIComponent(allocationId)}`,
    query: { namespace, task, type: stream, plain: true, origin: "end", offset: maxBytes },
    decoding: "text",
    maxBytes: maxBytes + SLACK_BYTES,
  });
  return tailBytes(String(value), maxBytes);
}

/** The end of a text in at most `maxBytes` UTF-8 bytes; half a character at the cut is dropped. */
export function tailBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.replace(/^\uFFFD+/, ""), "utf8");
  let from = Math.max(0, bytes.length - maxBytes);
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString("utf8");
}
