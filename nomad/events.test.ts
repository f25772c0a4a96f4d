import { describe, expect, it } from "vitest";
import { parseFrame } from "./events.ts";

const frame = (...events: readonly unknown[]) => parseFrame(JSON.stringify({ Index: 57, Events: events }));
const event = (Topic: string, over: object) => ({
  Topic,
  Type: "PlanResult",
  Namespace: "apps",
  Index: 57,
  FilterKeys: null,
  ...over,
});

describe("event frames", () => {
  it("are heartbeats without an index", () => {
    expect(parseFrame("{}")).toEqual({ kind: "heartbeat" });
  });

  it("tell of a job by its key, with the index its payload names", () => {
    const payload = { Job: { ID: "team/web", Namespace: "apps", JobModifyIndex: 55, ParentID: "" } };
    expect(frame(event("Job", { Key: "team/web", Payload: payload }))).toEqual({
      kind: "events",
      index: 57,
      signals: [{ kind: "job", key: "apps/team/web", index: 57, topic: "Job", jobModifyIndex: 55 }],
    });
  });

  it("tell of a purge by index 0, and of a child by its parent", () => {
    const purged = { Job: { JobModifyIndex: 55, ParentID: "cron" }, Deleted: true };
    expect(frame(event("Job", { Key: "cron/periodic-1", Payload: purged }))).toMatchObject({
      signals: [{ key: "apps/cron/periodic-1", jobModifyIndex: 0, parentId: "cron" }],
    });
  });

  it("map evaluations, allocations and deployments to their job, by payload or by filter key", () => {
    const { signals } = frame(
      event("Evaluation", { Key: "e1", FilterKeys: ["web", "d1"], Payload: { Evaluation: { ID: "e1", JobID: "web" } } }),
      event("Allocation", { Key: "a1", FilterKeys: ["web", "d1"] }),
      event("Deployment", { Key: "d1", Payload: { Deployment: { ID: "d1", JobID: "api" } } }),
      event("Node", { Key: "n1" }),
      event("Allocation", { Key: "a2" }),
    ) as { readonly signals: readonly object[] };
    expect(signals).toEqual([
      { kind: "job", key: "apps/web", index: 57, topic: "Evaluation" },
      { kind: "job", key: "apps/web", index: 57, topic: "Allocation" },
      { kind: "job", key: "apps/api", index: 57, topic: "Deployment" },
    ]);
  });

  it("say a thing once, and the newest of it", () => {
    const of = (JobModifyIndex: number) => event("Job", { Key: "web", Payload: { Job: { JobModifyIndex } } });
    expect(frame(of(3), of(4))).toMatchObject({ signals: [{ jobModifyIndex: 4 }] });
  });

  it.each(["", "null", "[]", "7", '{"Index":', "<html>"])("are not made of %s", (text) => {
    expect(() => parseFrame(text)).toThrow();
  });
});
