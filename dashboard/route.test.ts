import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jobPath, routeOf } from "./route.ts";

describe("routeOf", () => {
  it.each([
    ["/", { view: "overview" }],
    ["/jobs", { view: "jobs" }],
    ["/jobs/default/web", { view: "job", namespace: "default", job: "web" }],
    ["/jobs/default/a%2Fb", { view: "job", namespace: "default", job: "a/b" }],
    ["/jobs/default", { view: "lost" }],
    ["/deployments/01H", { view: "deployment", id: "01H" }],
    ["/deployments", { view: "deployments" }],
    ["/deployments/01H/x", { view: "deployment", id: "01H" }],
    ["/events", { view: "events" }],
    ["/status", { view: "status" }],
    ["/status/more", { view: "lost" }],
    ["/%E0%A4%A", { view: "lost" }],
  ])("%s", (path, route) => {
    expect(routeOf(path)).toEqual(route);
  });

  it("finds every job by the path that a link to it has", () => {
    const name = fc.string({ minLength: 1, unit: "grapheme" });
    fc.assert(
      fc.property(name, name, (namespace, job) => {
        expect(routeOf(jobPath(namespace, job))).toEqual({ view: "job", namespace, job });
      }),
    );
  });
});
