import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JobKey } from "../model/job-key.ts";
import { aDeployment } from "../testkit/builders.ts";
import { cyclePath, type Dependency, findCycles, judgeDependencies } from "./dependencies.ts";

const db = "default/db" as JobKey;
const dependency = (over: Partial<Dependency>): Dependency => ({
  key: db,
  wanted: "h1",
  deploys: true,
  latest: undefined,
  inSync: true,
  ...over,
});
const latest = (over: Parameters<typeof aDeployment>[0]) => aDeployment({ jobId: "db", specHash: "h1", ...over });

describe("judgeDependencies", () => {
  it.each<[string, Partial<Dependency>, string]>([
    ["in sync", {}, "ok"],
    ["not in git", { wanted: undefined, inSync: undefined }, "ok"],
    ["shown only", { deploys: false, inSync: false }, "ok"],
    ["not compared yet", { inSync: undefined }, "waiting_for_dependency"],
    ["differs", { inSync: false }, "waiting_for_dependency"],
    ["under way", { latest: latest({ state: "applying" }) }, "waiting_for_dependency"],
    ["waits for a person", { latest: latest({ state: "pending_approval" }), inSync: false }, "waiting_for_dependency"],
    ["failed at what git wants", { latest: latest({ state: "failed" }), inSync: false }, "dependency_failed"],
    ["failed after its register, live equals git", { latest: latest({ state: "failed" }), inSync: true }, "dependency_failed"],
    ["rejected", { latest: latest({ state: "rejected" }), inSync: false }, "dependency_failed"],
    ["failed at another spec", { latest: latest({ state: "failed", specHash: "h0" }), inSync: false }, "waiting_for_dependency"],
    [
      "failed and retried",
      { latest: latest({ state: "failed", retriedAt: "2027-01-01T00:00:00.000Z" }), inSync: false },
      "waiting_for_dependency",
    ],
    ["completed", { latest: latest({ state: "completed" }) }, "ok"],
  ])("%s", (_name, over, expected) => {
    const judgement = judgeDependencies(undefined, [dependency(over)]);
    expect(judgement.ok ? "ok" : judgement.reason).toBe(expected);
  });

  it("a failure counts more than a wait, and a cycle more than both", () => {
    const both = [dependency({ inSync: false }), dependency({ latest: latest({ state: "failed" }) })];
    expect(judgeDependencies(undefined, both)).toMatchObject({ reason: "dependency_failed" });
    expect(judgeDependencies([db, "default/a" as JobKey, db], both)).toMatchObject({
      reason: "dependency_cycle",
      message: "the dependencies form a cycle: db → a → db",
    });
  });
});

describe("findCycles", () => {
  const key = (n: number): JobKey => `default/${n}` as JobKey;

  it("finds exactly the jobs from which some path returns, and such a path, over any graph", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 14 }), (edges) => {
        const graph = new Map<JobKey, JobKey[]>();
        for (const [from, to] of edges) graph.set(key(from), [...(graph.get(key(from)) ?? []), key(to)]);
        const cycles = findCycles(graph);
        const reaches = (from: JobKey, to: JobKey): boolean => {
          const seen = new Set<JobKey>();
          const open = [...(graph.get(from) ?? [])];
          for (let next = open.pop(); next !== undefined; next = open.pop()) {
            if (next === to) return true;
            if (!seen.has(next)) open.push(...(graph.get(next) ?? []));
            seen.add(next);
          }
          return false;
        };
        expect([...cycles.keys()].toSorted()).toEqual([...graph.keys()].filter((each) => reaches(each, each)).toSorted());
        for (const [start, members] of cycles) {
          const path = cyclePath(graph, members, start);
          expect([path[0], path.at(-1)]).toEqual([start, start]);
          path.slice(1).forEach((next, at) => {
            expect(graph.get(path[at] ?? start)).toContain(next);
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is not disturbed by depth", () => {
    const graph = new Map(Array.from({ length: 50_000 }, (_unused, n): [JobKey, JobKey[]] => [key(n), [key(n + 1)]]));
    expect(findCycles(graph).size).toBe(0);
    graph.set(key(50_000), [key(0)]);
    expect(findCycles(graph).size).toBe(50_001);
  });
});
