import { describe, expect, it } from "vitest";
import { decodeApiJob } from "./decode.ts";
import { AdmissionError } from "./types.ts";
import { recs } from "./values.ts";

describe("decodeApiJob", () => {
  it("fills the whole shape and matches keys without regard to case", () => {
    const job = decodeApiJob({ id: "a", TASKGROUPS: [{ name: "g", count: 2, unknown: 1 }] });
    expect(job["ID"]).toBe("a");
    expect(job["Priority"]).toBeNull();
    expect(job["Dispatched"]).toBe(false);
    expect(recs(job, "TaskGroups")[0]).toMatchObject({ Name: "g", Count: 2, Tasks: null });
    expect(recs(job, "TaskGroups")[0]).not.toHaveProperty("unknown");
  });

  it("leaves the input as it is", () => {
    const input = Object.freeze({ ID: "a", Meta: Object.freeze({ a: "1" }) });
    expect(decodeApiJob(input)["Meta"]).toEqual({ a: "1" });
  });

  it.each([
    [{ Priority: "x" }, "cannot unmarshal string into Go struct field Job.Job.Priority of type int"],
    [{ Priority: 1.5 }, "cannot unmarshal number 1.5 into Go struct field Job.Job.Priority of type int"],
    [{ TaskGroups: [{ Count: "3" }] }, "cannot unmarshal string into Go struct field TaskGroup.Job.TaskGroups.Count of type int"],
    [
      { TaskGroups: [{ Tasks: [{ KillTimeout: "5s" }] }] },
      "cannot unmarshal string into Go struct field Task.Job.TaskGroups.Tasks.KillTimeout of type time.Duration",
    ],
    [{ Meta: { a: 1 } }, "cannot unmarshal number into Go struct field Job.Job.Meta of type string"],
    [{ Datacenters: "dc1" }, "cannot unmarshal string into Go struct field Job.Job.Datacenters of type []string"],
    [{ Spreads: [{ Weight: 300 }] }, "cannot unmarshal number 300 into Go struct field Spread.Job.Spreads.Weight of type int8"],
    [{ Stop: "yes" }, "cannot unmarshal string into Go struct field Job.Job.Stop of type bool"],
    [{ TaskGroups: {} }, "cannot unmarshal object into Go struct field Job.Job.TaskGroups of type []*api.TaskGroup"],
    [{ Update: [] }, "cannot unmarshal array into Go struct field Job.Job.Update of type api.UpdateStrategy"],
    [{ Version: -1 }, "cannot unmarshal number -1 into Go struct field Job.Job.Version of type uint64"],
  ])("refuses %j", (body, text) => {
    expect(() => decodeApiJob(body)).toThrow(new AdmissionError(`json: ${text}`, 400));
  });

  it("refuses what is no object", () => {
    expect(() => decodeApiJob("x", "JobPlanRequest")).toThrow(
      "json: cannot unmarshal string into Go struct field JobPlanRequest.Job of type api.Job",
    );
  });
});
