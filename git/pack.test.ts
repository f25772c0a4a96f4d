import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openObjects, packEntryHeader, sealPack } from "../testkit/git-objects.ts";
import { createTempRepository } from "../testkit/temp-git.ts";
import { GitError } from "./git-error.ts";
import { gitLimits } from "./limits.ts";
import { verifyPack } from "./pack.ts";

function pack(...entries: readonly Buffer[]): Buffer {
  const header = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  header.writeUInt32BE(entries.length, 8);
  return sealPack(Buffer.concat([header, ...entries]));
}

function entry(content: string | Buffer, { type = 3, size = content.length } = {}): Buffer {
  return Buffer.concat([
    packEntryHeader(type, size),
    ...(type === 7 ? [Buffer.alloc(20)] : type === 6 ? [Buffer.from([5])] : []),
    deflateSync(content),
  ]);
}

const small = { ...gitLimits, objectBytes: 1_000, unpackedBytes: 2_500, packObjects: 4 };

describe("verifyPack", () => {
  it("passes a real pack", async () => {
    const repository = await createTempRepository({ bare: true });
    await repository.commit({ files: { a: "one", "b/c": "x".repeat(70_000), empty: "" } });
    const head = await repository.commit({ files: { a: "two" } });
    const objects = openObjects(repository.gitdir);
    const { oids } = objects.missing({ wants: [head], haves: [], shallow: [], depth: undefined });
    expect(() => verifyPack(objects.pack(oids), gitLimits)).not.toThrow();
    await repository.remove();
  });

  it.each([
    [
      "objects of every type",
      pack(
        entry("a"),
        entry("", { type: 2 }),
        entry(Buffer.from([3, 4, 0]), { type: 6 }),
        entry(Buffer.from([3, 4, 0]), { type: 7 }),
      ),
    ],
    ["an object just as large as allowed", pack(entry("x".repeat(1_000)))],
    ["no object", pack()],
  ])("passes %s", (_, bytes) => {
    expect(() => verifyPack(bytes, small)).not.toThrow();
  });

  it.each([
    ["an empty pack", Buffer.alloc(0), "no header"],
    ["another version", sealPack(Buffer.from("PACK\0\0\0\x03\0\0\0\0", "latin1")), "version 3"],
    ["a cut pack", pack(entry("a")).subarray(0, -1), "checksum"],
    ["fewer objects than stated", sealPack(Buffer.from("PACK\0\0\0\x02\0\0\0\x01", "latin1")), "ends within"],
    [
      "bytes behind the last object",
      sealPack(Buffer.concat([pack(entry("a")).subarray(0, -20), Buffer.from("x")])),
      "more than its objects",
    ],
    ["a bomb that states a small size", pack(entry("x".repeat(900), { size: 3 })), "size it states"],
    ["an object smaller than stated", pack(entry("x", { size: 3 })), "size it states"],
    ["bytes that do not unpack", pack(Buffer.concat([packEntryHeader(3, 3), Buffer.from("junk")])), "size it states"],
    ["an unknown type", pack(entry("a", { type: 5 })), "unknown type"],
    ["an object beyond the limit", pack(entry("x".repeat(1_001))), "an object of"],
    ["a stated size of 2 GB", pack(entry("x", { size: 2 ** 31 })), "an object of 2048 MiB"],
    ["a delta that grows beyond the limit", pack(entry(Buffer.from([1, 0xff, 0xff, 0x7f, 0]), { type: 7 })), "an object of"],
    ["too much altogether", pack(entry("x".repeat(900)), entry("y".repeat(900)), entry("z".repeat(900))), "of objects"],
    ["too many objects", pack(entry("a"), entry("b"), entry("c"), entry("d"), entry("e")), "5 objects"],
  ])("refuses %s", (_, bytes, why) => {
    expect(() => verifyPack(bytes, small)).toThrow(GitError);
    expect(() => verifyPack(bytes, small)).toThrow(why);
  });

  it("finds every flipped bit", () => {
    const good = pack(entry("hello"), entry("world", { type: 2 }));
    fc.assert(
      fc.property(fc.nat(good.length * 8 - 1), (bit) => {
        const bad = Buffer.from(good);
        bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(() => verifyPack(bad, gitLimits)).toThrow(GitError);
      }),
    );
  });

  it("throws nothing but its own error for a well-sealed pack of any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 0, max: 3 }), (bytes, count) => {
        const header = Buffer.from(`PACK\0\0\0\x02\0\0\0${String.fromCharCode(count)}`, "latin1");
        try {
          verifyPack(sealPack(Buffer.concat([header, bytes])), small);
        } catch (error) {
          expect(error).toBeInstanceOf(GitError);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
