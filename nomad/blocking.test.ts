import { describe, expect, it } from "vitest";
import { nextBlockIndex } from "./blocking.ts";

describe("the next index to block on", () => {
  it.each([
    [0, 5, 5],
    [5, 5, 5],
    [5, 9, 9],
    [9, 5, 0],
    [0, 0, 1],
  ])("asked %i, answered %i: %i", (asked, answered, next) => {
    expect(nextBlockIndex(asked, answered)).toBe(next);
  });
});
