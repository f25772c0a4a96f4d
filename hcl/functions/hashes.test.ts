import { constants, generateKeyPairSync, publicEncrypt } from "node:crypto";
import { describe, expect, it } from "vitest";
import { FunctionError } from "../scope.ts";
import { stringValue, type Value } from "../value.ts";
import { bcryptHash } from "./bcrypt.ts";
import { hashFunctions } from "./hashes.ts";

const counting = (count: number) => Uint8Array.from({ length: count }, (_, index) => index);

function call(name: string, ...args: Value[]): Value | undefined {
  return hashFunctions(counting)[name]?.call(args);
}

describe("bcrypt", () => {
  // Salt of zeros and known answers of the reference implementation.
  it("gives the hash of the reference implementation", () => {
    const hex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));
    // Test vectors of OpenBSD's bcrypt: "a" and "" with fixed salts.
    expect(bcryptHash(Buffer.from("a"), 6, hex("a3612d8c9a37dac2f99d94da03bd4521"))).toBe(
      "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe",
    );
    expect(bcryptHash(Buffer.from(""), 6, hex("144b3d691a7b4ecf39cf735c7fa7a79c"))).toBe(
      "$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s.",
    );
  });
});

describe("identifiers", () => {
  it("come from the randomness that is given", () => {
    expect(call("uuidv4")).toEqual(stringValue("00010203-0405-4607-8809-0a0b0c0d0e0f"));
  });
});

describe("rsadecrypt", () => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();

  it("decrypts PKCS #1 v1.5", () => {
    const secret = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, Buffer.from("hello"));
    expect(call("rsadecrypt", stringValue(secret.toString("base64")), stringValue(pem))).toEqual(stringValue("hello"));
  });

  it("never shows key or text when it fails", () => {
    const wrong = Buffer.alloc(128, 7).toString("base64");
    expect(() => call("rsadecrypt", stringValue(wrong), stringValue(pem))).toThrow(FunctionError);
    expect(() => call("rsadecrypt", stringValue(wrong), stringValue("s3cret"))).toThrow(
      /^failed to decrypt: no key found, or the key does not fit$/,
    );
  });
});
