import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readApiJson } from "./api-json.ts";

function source(text: string): unknown {
  const read = readApiJson(text, "a.json", false);
  return read.kind === "job" ? read.source : read.kind;
}

describe("readApiJson", () => {
  it("unwraps and drops what a server adds, and keeps the digits of numbers", () => {
    const bare =
      '{"ID": "a", "Version": 3, "TaskGroups": [{"Count": 12345678901234567890, "Version": 1}],\n "Status":"x\\"},{", "JobModifyIndex": 7, "VaultToken": "canary"}';
    const kept = '{"ID":"a","TaskGroups":[{"Count": 12345678901234567890, "Version": 1}]}';
    expect(source(bare)).toBe(kept);
    expect(source(`{"EnforceIndex": true, "Job": ${bare}}`)).toBe(kept);
    expect(source(` {"x": {"Job": 1}, "job":${bare}, "y": [{}]} `)).toBe(kept);
  });

  it.each([
    "1",
    "null",
    "[]",
    '"x"',
    "{}",
    '{"Job": 1}',
    '{"ID": "a"}',
    '{"TaskGroups": []}',
    '{"ID": 1, "TaskGroups": []}',
    "{",
    "nonsense",
    '{"Job": {"ID": "x"}}',
  ])("passes %s over", (text) => {
    expect(source(text)).toBe("other");
  });

  it("says where JSON that is meant as a job breaks, without quoting it", () => {
    const read = readApiJson('{"ID": "a",\n"Secret": canary', "a.nomad.json", true);
    expect(read).toMatchObject({ kind: "broken", issue: { file: "a.nomad.json", line: 2 } });
    expect(JSON.stringify(read)).not.toContain("canary");
    expect(readApiJson('{"TaskGroups": [', "a.json", false).kind).toBe("broken");
  });

  it("agrees with JSON.parse about every member", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (members, indent) => {
        const job = { ID: "a", TaskGroups: [], ...members };
        if (!Array.isArray(job.TaskGroups) || typeof job.ID !== "string") return;
        const read = readApiJson(JSON.stringify(job, null, indent), "a.json", false);
        expect(read.kind === "job" && JSON.parse(read.source)).toEqual(JSON.parse(JSON.stringify(job)));
      }),
    );
  });

  it("never throws on any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readApiJson(text, "a.json", true).kind).toMatch(/other|broken/);
      }),
    );
  });
});
