import { describe, expect, it } from "vitest";
import { knownRaces, parseNomadVersion } from "./version.ts";

describe("version", () => {
  it.each([
    ["2.0.6-dev", { major: 2, minor: 0, patch: 6, prerelease: "dev", text: "2.0.6-dev" }],
    ["v1.10.8+ent", { major: 1, minor: 10, patch: 8, prerelease: "", text: "1.10.8+ent" }],
  ])("reads %s", (text, version) => {
    expect(parseNomadVersion(text)).toEqual(version);
  });

  it.each([
    ["1.11.1", ["enforce_index_race", "dispatch_token_race", "plan_refuses_workload_identity"]],
    ["1.11.2", ["enforce_index_race", "plan_refuses_workload_identity"]],
    ["2.0.0", ["enforce_index_race", "plan_refuses_workload_identity"]],
    ["2.0.3", ["plan_refuses_workload_identity"]],
    ["2.0.4-dev", []],
    ["2.10.0", []],
  ])("knows what %s still gets wrong", (text, codes) => {
    const version = parseNomadVersion(text);
    expect(version && knownRaces(version).map(({ code }) => code)).toEqual(codes);
  });

  it("does not guess", () => {
    expect(parseNomadVersion("two")).toBeUndefined();
    expect(parseNomadVersion("")).toBeUndefined();
  });
});
