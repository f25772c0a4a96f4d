import { expect, it } from "vitest";
import { safeNext } from "./next-path.ts";

it.each([
  ["/", "/"],
  ["/jobs/apps/web", "/jobs/apps/web"],
  ["/jobs/apps/team%2Fweb", "/jobs/apps/team%2Fweb"],
  ["/events?job=web", "/events?job=web"],
  [undefined, "/"],
  ["", "/"],
  ["jobs", "/"],
  ["https://evil.example/", "/"],
  ["javascript:alert(1)", "/"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["\\\\evil.example", "/"],
  ["/jobs\\x", "/"],
  ["/\t/evil.example", "/"],
  ["/\n//evil.example", "/"],
  ["/.//evil.example", "/"],
  ["/x/..//evil.example", "/"],
  ["/%2e//evil.example", "/"],
  ["/\u0000", "/"],
  ["/\u0085", "/"],
  ["/login?next=/jobs", "/"],
  ["/auth/callback", "/"],
  ["/api/v1/jobs", "/"],
  [`/${"a".repeat(1_000)}`, "/"],
])("a login with next %j leads to %j", (wanted, expected) => {
  expect(safeNext(wanted)).toBe(expected);
});
