/** Reads the fields of SSH's binary formats (RFC 4251 §5) one after another. */
export class SshFields {
  #rest: Buffer;

  constructor(bytes: Buffer) {
    this.#rest = bytes;
  }

  /** @throws RangeError when fewer bytes are left. */
  take(length: number): Buffer {
    if (length > this.#rest.length) throw new RangeError("it ends too early");
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  number(): number {
    return this.take(4).readUInt32BE();
  }

  bytes(): Buffer {
    return this.take(this.number());
  }

  text(): string {
    return this.bytes().toString("latin1");
  }

  /** A whole number that is not negative, without its leading zero. */
  integer(): Buffer {
    const bytes = this.bytes();
    return bytes[0] === 0 ? bytes.subarray(1) : bytes;
  }

  get isAtEnd(): boolean {
    return this.#rest.length === 0;
  }
}

/** A string field (RFC 4251 §5). */
export function sshString(content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
