import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { GitError } from "./git-error.ts";
import type { GitLimits } from "./limits.ts";
import { formatBytes } from "./transport.ts";

const deltaByOffset = 6;
const deltaById = 7;

/**
 * Checks a pack before anything indexes it: header, SHA-1 at the end, and every object's unpacked size against what its header
 * says and against the limits. isomorphic-git indexes a cut pack without complaint, and unpacks whatever size an object has
 * (libraries §2.2, trap 4; reliability S43). Takes about 15 µs an object.
 *
 * @throws GitError `damaged` or `too_large`.
 */
export function verifyPack(pack: Buffer, limits: GitLimits): void {
  if (pack.length < 32 || pack.toString("latin1", 0, 4) !== "PACK") throw damaged("it has no header");
  if (pack.readUInt32BE(4) !== 2) throw damaged(`version ${pack.readUInt32BE(4)} is unknown`);
  const content = pack.subarray(0, -20);
  if (!createHash("sha1").update(content).digest().equals(pack.subarray(-20))) throw damaged("its checksum is wrong");
  const count = pack.readUInt32BE(8);
  if (count > limits.packObjects) throw tooLarge(`${count} objects`);
  let at = 12;
  let unpacked = 0;
  for (let object = 0; object < count; object++) {
    const header = readEntryHeader(content, at);
    if (header.size > limits.objectBytes) throw tooLarge(`an object of ${formatBytes(header.size)}`);
    unpacked += header.size;
    if (unpacked > limits.unpackedBytes) throw tooLarge(`more than ${formatBytes(limits.unpackedBytes)} of objects`);
    const { data, used } = unpack(content.subarray(header.end), header.size);
    if (header.delta) {
      const size = deltaResultSize(data);
      unpacked += size;
      if (size > limits.objectBytes) throw tooLarge(`an object of ${formatBytes(size)}`);
    }
    at = header.end + used;
  }
  if (at !== content.length) throw damaged("it holds more than its objects");
}

function damaged(why: string): GitError {
  return new GitError("damaged", `the received pack is damaged: ${why}`);
}

function tooLarge(what: string): GitError {
  return new GitError(
    "too_large",
    `the repository's pack holds ${what}, more than nops unpacks`,
    "keep job files in a repository of their own",
  );
}

interface EntryHeader {
  readonly size: number;
  readonly delta: boolean;
  /** Where the packed bytes begin. */
  readonly end: number;
}

function readEntryHeader(pack: Buffer, start: number): EntryHeader {
  let at = start;
  const next = () => {
    const byte = pack[at++];
    if (byte === undefined) throw damaged("it ends within an object");
    return byte;
  };
  let byte = next();
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  // Multiplied, not shifted: sizes may pass 32 bits, and a hostile one must stay comparable.
  for (let factor = 16; byte & 0x80; factor *= 128) {
    byte = next();
    size += (byte & 0x7f) * factor;
  }
  if (type === 0 || type === 5) throw damaged(`an object has the unknown type ${type}`);
  if (type === deltaByOffset) while (next() & 0x80);
  if (type === deltaById) at += 20;
  return { size, delta: type === deltaByOffset || type === deltaById, end: at };
}

function unpack(packed: Buffer, size: number): { readonly data: Buffer; readonly used: number } {
  try {
    // With `info` the answer tells how much of the input the object took; the types do not know it.
    const chunkSize = Math.min(Math.max(64, size + 1), 65_536);
    const result = inflateSync(packed, { info: true, chunkSize, maxOutputLength: Math.max(1, size) }) as unknown;
    const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
    if (buffer.length === size) return { data: buffer, used: engine.bytesWritten };
  } catch {
    // Told in the same words as a wrong length.
  }
  throw damaged("an object does not unpack to the size it states");
}

/** The second number of a delta. */
function deltaResultSize(delta: Buffer): number {
  let at = 0;
  const read = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = delta[at++];
      if (byte === undefined) throw damaged("a delta ends too early");
      value += (byte & 0x7f) * factor;
      if ((byte & 0x80) === 0) return value;
    }
  };
  read();
  return read();
}
