/**
 * A payload as the server keeps it, and shows it everywhere but in `GET /v1/job/:id`: a snappy block, here of plain literals.
 * Takes and gives base64.
 */
export function snappy(base64: string): string {
  const data = Buffer.from(base64, "base64");
  const out: Buffer[] = [Buffer.from(varint(data.length))];
  for (let at = 0; at < data.length; at += 65_536) {
    const chunk = data.subarray(at, at + 65_536);
    const size = chunk.length - 1;
    if (size < 60) out.push(Buffer.from([size << 2]));
    else if (size < 256) out.push(Buffer.from([60 << 2, size]));
    else out.push(Buffer.from([61 << 2, size & 255, size >> 8]));
    out.push(chunk);
  }
  return Buffer.concat(out).toString("base64");
}

/** Reads what `snappy` wrote. */
export function unsnappy(base64: string): string {
  const block = Buffer.from(base64, "base64");
  const out: Buffer[] = [];
  let at = 0;
  while ((block[at] ?? 0) >= 128) at++;
  for (at++; at < block.length; ) {
    const tag = (block[at++] ?? 0) >> 2;
    let size = tag;
    if (tag >= 60) {
      size = block[at++] ?? 0;
      if (tag === 61) size += (block[at++] ?? 0) * 256;
    }
    out.push(block.subarray(at, at + size + 1));
    at += size + 1;
  }
  return Buffer.concat(out).toString("base64");
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
}
