import { constants, createHash, createPrivateKey, privateDecrypt } from "node:crypto";
import { FunctionError } from "../scope.ts";
import { stringValue, type Value } from "../value.ts";
import { bcryptHash } from "./bcrypt.ts";
import { define, type FunctionTable, integerAt, num, str, textAt } from "./define.ts";

/** Bytes that nobody can guess. */
export type RandomBytes = (count: number) => Uint8Array;

function hash(algorithm: string) {
  return define([str("str")], (args) => stringValue(createHash(algorithm).update(textAt(args, 0)).digest("hex")));
}

function formatUuid(bytes: Uint8Array, version: number): Value {
  const uuid = Uint8Array.from(bytes.slice(0, 16));
  uuid[6] = ((uuid[6] ?? 0) & 0x0f) | (version << 4);
  uuid[8] = ((uuid[8] ?? 0) & 0x3f) | 0x80;
  return stringValue(
    Buffer.from(uuid)
      .toString("hex")
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
  );
}

// RFC 4122, appendix C.
const NAMESPACES: Readonly<Record<string, string>> = {
  dns: "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
  url: "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
  oid: "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
  x500: "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
};

function uuidV5(args: readonly Value[]): Value {
  const given = textAt(args, 0);
  const namespace = (NAMESPACES[given] ?? given)
    .replace(/^urn:uuid:/i, "")
    .replace(/^\{(.*)\}$/, "$1")
    .replaceAll("-", "");
  if (!/^[0-9a-fA-F]{32}$/.test(namespace)) {
    throw new FunctionError(`uuidv5() doesn't support namespace ${given} (invalid UUID length: ${given.length})`);
  }
  const digest = createHash("sha1").update(Buffer.from(namespace, "hex")).update(textAt(args, 1)).digest();
  return formatUuid(digest, 5);
}

function bcrypt(args: readonly Value[], random: RandomBytes): Value {
  if (args.length > 2) throw new FunctionError("bcrypt() takes no more than two arguments");
  const cost = args.length === 2 ? integerAt(args, 1) : 10;
  if (cost > 31)
    throw new FunctionError(
      `error occured generating password crypto/bcrypt: cost ${cost} is outside allowed inclusive range 4..31`,
    );
  const password = Buffer.from(textAt(args, 0));
  if (password.length > 72) throw new FunctionError("error occured generating password bcrypt: password length exceeds 72 bytes");
  return stringValue(bcryptHash(password, cost < 4 ? 10 : cost, random(16)));
}

/** RSA with the padding of PKCS #1 v1.5, taken off by hand: Node refuses to do it. */
function rsaDecrypt(args: readonly Value[]): Value {
  const given = textAt(args, 0);
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(given)) {
    throw new FunctionError(`failed to decode input ${JSON.stringify(given)}: cipher text must be base64-encoded`);
  }
  let block: Buffer;
  try {
    const key = createPrivateKey(textAt(args, 1));
    block = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, Buffer.from(given, "base64"));
  } catch {
    // What the key or the text look like is nobody's business.
    throw new FunctionError("failed to decrypt: no key found, or the key does not fit");
  }
  const end = block.indexOf(0, 2);
  if (block[0] !== 0 || block[1] !== 2 || end < 10) throw new FunctionError("crypto/rsa: decryption error");
  return stringValue(block.subarray(end + 1).toString("utf8"));
}

/** Hashes and identifiers; `random` feeds those that differ every time. */
export function hashFunctions(random: RandomBytes): FunctionTable {
  return {
    bcrypt: define([str("str")], (args) => bcrypt(args, random), num("cost")),
    md5: hash("md5"),
    rsadecrypt: define([str("ciphertext"), str("privatekey")], rsaDecrypt),
    sha1: hash("sha1"),
    sha256: hash("sha256"),
    sha512: hash("sha512"),
    uuidv4: define([], () => formatUuid(random(16), 4)),
    uuidv5: define([str("namespace"), str("name")], uuidV5),
  };
}
