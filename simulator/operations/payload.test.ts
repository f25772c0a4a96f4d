import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { snappy, unsnappy } from "./payload.ts";

describe("snappy", () => {
  it("writes a block that says its length and its text", () => {
    expect(Buffer.from(snappy(Buffer.from("hi").toString("base64")), "base64")).toEqual(Buffer.from([2, 1 << 2, 104, 105]));
  });

  it("gives back what it took, of any size", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 140_000 }), fc.integer({ min: 0, max: 255 }), (size, byte) => {
        const text = Buffer.alloc(size, byte).toString("base64");
        expect(unsnappy(snappy(text))).toBe(text);
      }),
      {
        numRuns: 50,
        examples: [
          [60, 1],
          [61, 1],
          [256, 1],
          [257, 1],
          [65_536, 1],
          [65_537, 1],
        ],
      },
    );
  });
});
