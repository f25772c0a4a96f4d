/** MessagePack as Nomad's servers and clients speak it: maps, lists, texts, whole numbers, and times as bytes. */

export type Packable =
  | null
  | undefined
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Packable[]
  | { readonly [key: string]: Packable };

/** The bytes of a value. Fields that are undefined are left out. */
export function pack(value: Packable): Buffer {
  if (value === null || value === undefined) return Buffer.from([0xc0]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === "number") return packNumber(value);
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(bytes.length, 0xa0, 32, 0xda, 0xdb), bytes]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([Buffer.from([0xc4, value.length]), value]);
  if (Array.isArray(value)) {
    const list = value as readonly Packable[];
    return Buffer.concat([head(list.length, 0x90, 16, 0xdc, 0xdd), ...list.map(pack)]);
  }
  const entries = Object.entries(value as Record<string, Packable>).filter(([, one]) => one !== undefined);
  return Buffer.concat([head(entries.length, 0x80, 16, 0xde, 0xdf), ...entries.flatMap(([key, one]) => [pack(key), pack(one)])]);
}

function head(length: number, short: number, below: number, word: number, long: number): Buffer {
  if (length < below) return Buffer.from([short | length]);
  const bytes = Buffer.alloc(length < 65_536 ? 3 : 5);
  bytes[0] = length < 65_536 ? word : long;
  if (length < 65_536) bytes.writeUInt16BE(length, 1);
  else bytes.writeUInt32BE(length, 1);
  return bytes;
}

function packNumber(value: number): Buffer {
  const bytes = Buffer.alloc(9);
  if (Number.isInteger(value)) {
    bytes[0] = 0xd3;
    bytes.writeBigInt64BE(BigInt(value), 1);
  } else {
    bytes[0] = 0xcb;
    bytes.writeDoubleBE(value, 1);
  }
  return bytes;
}

/** Seconds from the year 1 to 1970. */
const epochSeconds = 62_135_596_800n;

/** An instant in milliseconds as Go writes a time into bytes, in UTC. */
export function packedTime(ms: number): Uint8Array {
  const bytes = Buffer.alloc(15);
  bytes[0] = 1;
  bytes.writeBigInt64BE(BigInt(Math.floor(ms / 1000)) + epochSeconds, 1);
  bytes.writeInt32BE((ms % 1000) * 1_000_000, 9);
  bytes.writeInt16BE(-1, 13);
  return bytes;
}

/** One value at a place, and where the next begins; undefined when the bytes end before it does. */
export function unpack(bytes: Buffer, at: number): { readonly value: unknown; readonly end: number } | undefined {
  try {
    return new Unpacker(bytes, at).one();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Unpacker {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  one(): { readonly value: unknown; readonly end: number } {
    const value = this.#value();
    return { value, end: this.#at };
  }

  #value(): unknown {
    const tag = this.#uint(1);
    if (tag < 0x80) return tag;
    if (tag < 0x90) return this.#map(tag & 15);
    if (tag < 0xa0) return this.#list(tag & 15);
    if (tag < 0xc0) return this.#text(tag & 31);
    if (tag >= 0xe0) return tag - 256;
    if (tag === 0xc0) return null;
    if (tag === 0xc2 || tag === 0xc3) return tag === 0xc3;
    if (tag >= 0xc4 && tag <= 0xc6) return this.#text(this.#uint(2 ** (tag - 0xc4)));
    if (tag === 0xca) return this.#take(4).readFloatBE();
    if (tag === 0xcb) return this.#take(8).readDoubleBE();
    if (tag >= 0xcc && tag <= 0xcf) return this.#uint(2 ** (tag - 0xcc));
    if (tag >= 0xd0 && tag <= 0xd3) return this.#int(2 ** (tag - 0xd0));
    if (tag >= 0xd9 && tag <= 0xdb) return this.#text(this.#uint(2 ** (tag - 0xd9)));
    if (tag === 0xdc || tag === 0xdd) return this.#list(this.#uint(tag === 0xdc ? 2 : 4));
    if (tag === 0xde || tag === 0xdf) return this.#map(this.#uint(tag === 0xde ? 2 : 4));
    throw new Error(`no such value in MessagePack: 0x${tag.toString(16)}`);
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError("the bytes end here");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #uint(length: number): number {
    const bytes = this.#take(length);
    return length === 8 ? Number(bytes.readBigUInt64BE()) : bytes.readUIntBE(0, length);
  }

  #int(length: number): number {
    const bytes = this.#take(length);
    return length === 8 ? Number(bytes.readBigInt64BE()) : bytes.readIntBE(0, length);
  }

  #text(length: number): string {
    return this.#take(length).toString("utf8");
  }

  #list(length: number): unknown[] {
    return Array.from({ length }, () => this.#value());
  }

  #map(length: number): Record<string, unknown> {
    return Object.fromEntries(Array.from({ length }, () => [String(this.#value()), this.#value()] as const));
  }
}
