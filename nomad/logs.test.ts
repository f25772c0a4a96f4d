import { describe, expect, it } from "vitest";
import { tailBytes } from "./logs.ts";

describe("the tail of a log", () => {
  it.each([
    ["abc", 2, "bc"],
    ["äöü", 3, "ü"],
    ["äöü", 4, "öü"],
    ["a€", 2, ""],
    ["\uFFFDrest", 100, "rest"],
    ["", 5, ""],
  ])("of %s in %i bytes", (text, bytes, tail) => {
    expect(tailBytes(text, bytes)).toBe(tail);
  });
});
