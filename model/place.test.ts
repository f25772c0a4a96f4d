import { expect, it } from "vitest";
import { placed, withPlace } from "./place.ts";

it.each([
  ["plain: text", undefined, "plain: text"],
  ["line 2: not closed", 2, "not closed"],
  ["a/b.hcl:7: not closed", 7, "not closed"],
  ["a/b.hcl:7 and more", undefined, "a/b.hcl:7 and more"],
  ["other.hcl:7: not closed", undefined, "other.hcl:7: not closed"],
  ["Failed to parse job: input.hcl:10,7-13: Unsupported argument; no", 10, "Unsupported argument; no"],
  ["cannot parse the job file: Failed to parse job: input.hcl:3,7-5,2: Bad; x", 3, "Bad; x"],
  ["input.hcl:1,9: Bad; x", 1, "Bad; x"],
  ["cannot parse the job file: no answer", undefined, "cannot parse the job file: no answer"],
])("%s", (text, line, message) => {
  expect(placed("a/b.hcl", text)).toEqual(line === undefined ? { message } : { line, message });
  const whole = `a/b.hcl${line === undefined ? "" : `:${line}`}: ${message}`;
  expect(withPlace("a/b.hcl", text)).toBe(whole);
  expect(withPlace("a/b.hcl", withPlace("a/b.hcl", text))).toBe(line === undefined ? `a/b.hcl: ${whole}` : whole);
});

it("a known line wins", () => {
  expect(withPlace("a.hcl", "line 2: x", 3)).toBe("a.hcl:3: x");
});
