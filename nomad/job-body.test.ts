import { describe, expect, it } from "vitest";
import { unwrapJob, withoutServerFields } from "./job-body.ts";

describe("job bodies", () => {
  it("lose what the server keeps and nothing else", () => {
    const job = {
      ID: "j",
      Version: 4,
      Stable: true,
      SubmitTime: 1,
      VersionTag: {},
      JobModifyIndex: 5,
      Unknown: { Deep: [1] },
      Meta: { Version: "1" },
    };
    expect(withoutServerFields(job as never)).toEqual({ ID: "j", Unknown: { Deep: [1] }, Meta: { Version: "1" } });
  });

  it("are found wrapped or bare", () => {
    for (const file of [{ Job: { ID: "j" } }, { job: { ID: "j" } }, { ID: "j" }]) expect(unwrapJob(file)).toEqual({ ID: "j" });
    for (const file of [null, [], "x", {}, { Job: {} }, { Job: null, ID: 3 }]) expect(unwrapJob(file)).toBeUndefined();
  });
});
