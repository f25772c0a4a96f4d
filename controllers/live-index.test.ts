import { describe, expect, it } from "vitest";
import type { JobKey } from "../model/job-key.ts";
import type { JobStub } from "../model/nomad.ts";
import { LiveIndex } from "./live-index.ts";

const [a, b, c] = ["default/a", "default/b", "default/c"] as JobKey[] as [JobKey, JobKey, JobKey];
const stub = (id: string, index: number): JobStub => ({
  ID: id,
  Namespace: "default",
  ParentID: "",
  Type: "service",
  Status: "running",
  Stop: false,
  Periodic: false,
  ParameterizedJob: false,
  CreateIndex: 1,
  ModifyIndex: index,
  JobModifyIndex: index,
});

const list = (live: LiveIndex, jobs: readonly JobStub[], index: number, wentBack = false) =>
  live.listed({ namespace: "default", jobs, index, wentBack }, 0);

describe("LiveIndex", () => {
  it("knows nothing of a namespace before its first list, and then what is not in it as absent", () => {
    const live = new LiveIndex();
    expect([live.index(a), live.isListed("default")]).toEqual([undefined, false]);
    expect(list(live, [stub("a", 5)], 9)).toEqual([a]);
    expect([live.index(a), live.index(b), live.isListed("default"), live.isListed("other")]).toEqual([5, 0, true, false]);
  });

  it("tells which keys a list changed, those that vanished included", () => {
    const live = new LiveIndex();
    list(live, [stub("a", 5), stub("b", 6)], 9);
    expect(list(live, [stub("a", 5), stub("c", 8)], 10).toSorted()).toEqual([b, c]);
  });

  it("takes an event's index, and says whether it is news", () => {
    const live = new LiveIndex();
    list(live, [stub("a", 5)], 9);
    expect([live.note(a, 5, 10), live.note(a, 11, 11), live.index(a), live.note(a, 0, 12), live.index(a)]).toEqual([
      false,
      true,
      11,
      true,
      0,
    ]);
  });

  it("keeps an event that is later than a list which arrives after it", () => {
    const live = new LiveIndex();
    list(live, [stub("a", 5)], 9);
    live.note(a, 20, 20);
    expect(list(live, [stub("a", 5)], 15)).toEqual([]);
    expect(live.index(a)).toBe(20);
    expect(list(live, [stub("a", 20)], 21)).toEqual([]);
  });

  it("forgets everything that was told when the server's index went back, and takes no index of before for the same job", () => {
    const live = new LiveIndex();
    list(live, [stub("b", 6)], 7);
    live.note(a, 20, 20);
    live.note(c, 21, 21);
    expect(list(live, [stub("b", 6), stub("c", 9)], 13, true).toSorted()).toEqual([a, b, c]);
    expect([live.index(a), live.index(b), live.index(c)]).toEqual([0, undefined, undefined]);
    live.note(b, 6);
    expect(list(live, [stub("b", 6), stub("c", 9)], 14)).toEqual([c]);
    expect([live.index(b), live.index(c)]).toEqual([6, 9]);
  });

  it("does not answer for a doubtful key until it is told or listed again", () => {
    const live = new LiveIndex();
    list(live, [stub("a", 5)], 9);
    live.doubt(a);
    expect(live.index(a)).toBeUndefined();
    live.note(a, 5);
    expect(live.index(a)).toBe(5);
    live.doubt(a);
    list(live, [stub("a", 5)], 10);
    expect(live.index(a)).toBe(5);
  });
});
