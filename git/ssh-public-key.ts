import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { SshFields } from "./ssh-wire.ts";

/** A public key in SSH's form, which checks signatures of SSH's kinds. */
export interface SshPublicKey {
  /** Its kind as SSH names it, such as `ssh-ed25519`. */
  readonly kind: string;
  /** @throws RangeError when the signature cannot be read. */
  verifies(data: Buffer, signature: Buffer): boolean;
}

/** Keys that live in a device sign more than the data: what the device adds to it. */
const devicePrefix = "sk-";
const leastRsaBits = 2_048;

const curves: Readonly<Record<string, { readonly crv: string; readonly hash: string; readonly bytes: number }>> = {
  nistp256: { crv: "P-256", hash: "sha256", bytes: 32 },
  nistp384: { crv: "P-384", hash: "sha384", bytes: 48 },
  nistp521: { crv: "P-521", hash: "sha512", bytes: 66 },
};
const rsaHashes: Readonly<Record<string, string>> = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" };

/** The key of a blob. @throws RangeError saying what is wrong with it. */
export function readSshPublicKey(blob: Buffer): SshPublicKey {
  const fields = new SshFields(blob);
  const kind = fields.text();
  const plain = kind.replace(/^sk-/, "").replace(/@openssh\.com$/, "");
  const check = kindReaders.find(({ kinds }) => kinds.test(plain))?.read(fields);
  if (check === undefined || (kind !== plain && !kind.startsWith(devicePrefix)))
    throw new RangeError(`keys of kind "${kind}" are not known`);
  if (!kind.startsWith(devicePrefix)) {
    return { kind, verifies: (data, signature) => checkSignature(check, plain, new SshFields(signature), data) };
  }
  const application = createHash("sha256").update(fields.bytes()).digest();
  return {
    kind,
    verifies: (data, signature) => {
      const parts = new SshFields(signature);
      const [name, bytes] = [parts.text(), parts.bytes()];
      const signed = Buffer.concat([application, parts.take(5), createHash("sha256").update(data).digest()]);
      // Bit 0 of the flags: somebody touched the device.
      return name === kind && ((signed[32] ?? 0) & 1) === 1 && check(plain, bytes, signed);
    },
  };
}

/** `name`: kind of the signature; `bytes`: its own part; `data`: what was signed. */
type Check = (name: string, bytes: Buffer, data: Buffer) => boolean;

function checkSignature(check: Check, kind: string, fields: SshFields, data: Buffer): boolean {
  const [name, bytes] = [fields.text(), fields.bytes()];
  const fits = kind === "ssh-rsa" ? Object.hasOwn(rsaHashes, name) : name === kind;
  return fits && fields.isAtEnd && check(name, bytes, data);
}

const kindReaders: readonly { readonly kinds: RegExp; readonly read: (fields: SshFields) => Check }[] = [
  {
    kinds: /^ssh-ed25519$/,
    read: (fields) => {
      const key = keyOf({ kty: "OKP", crv: "Ed25519", x: fields.bytes().toString("base64url") });
      return (_, bytes, data) => verify(null, data, key, bytes);
    },
  },
  {
    kinds: /^ecdsa-sha2-nistp(?:256|384|521)$/,
    read: (fields) => {
      const curve = curves[fields.text()];
      const point = fields.bytes();
      if (curve === undefined || point[0] !== 4 || point.length !== 1 + 2 * curve.bytes)
        throw new RangeError("its point cannot be read");
      const [x, y] = [point.subarray(1, 1 + curve.bytes), point.subarray(1 + curve.bytes)];
      const key = keyOf({ kty: "EC", crv: curve.crv, x: x.toString("base64url"), y: y.toString("base64url") });
      return (_, bytes, data) => {
        const parts = new SshFields(bytes);
        const [r, s] = [parts.integer(), parts.integer()];
        if (Math.max(r.length, s.length) > curve.bytes) return false;
        const signature = Buffer.alloc(2 * curve.bytes);
        r.copy(signature, curve.bytes - r.length);
        s.copy(signature, 2 * curve.bytes - s.length);
        return verify(curve.hash, data, { key, dsaEncoding: "ieee-p1363" }, signature);
      };
    },
  },
  {
    kinds: /^ssh-rsa$/,
    read: (fields) => {
      const [e, n] = [fields.integer(), fields.integer()];
      if (n.length * 8 < leastRsaBits) throw new RangeError(`RSA keys need at least ${leastRsaBits} bits`);
      const key = keyOf({ kty: "RSA", n: n.toString("base64url"), e: e.toString("base64url") });
      return (name, bytes, data) => verify(rsaHashes[name], data, key, bytes);
    },
  },
];

function keyOf(key: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch {
    throw new RangeError("it is no point of its curve, or no key at all");
  }
}
