import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JobDiff } from "../../model/nomad.ts";
import { admitJob } from "../jobspec/admit.ts";
import { comparable } from "../jobspec/recorded-view.ts";
import type { AdmitContext, ApiJob, DesiredUpdates } from "../jobspec/types.ts";
import { jobDiff } from "./job-diff.ts";
import { annotateDiff, groupUpdateKind } from "./update-kind.ts";

interface Plan {
  readonly Diff: JobDiff;
  readonly Annotations: { readonly DesiredTGUpdates: Readonly<Record<string, DesiredUpdates>> };
}
interface Step {
  readonly id: string;
  readonly path: string;
  readonly body?: { readonly Job: ApiJob };
  readonly recorded: { readonly status: number; readonly body: Plan };
}

const CONTEXT: AdmitContext = {
  region: "global",
  namespace: () => ({}),
  nodePool: () => ({}),
  memoryOversubscription: false,
};
const FILE = new URL("../recorded/edits-of-a-service.json", import.meta.url);
const { steps } = JSON.parse(readFileSync(FILE, "utf8")) as { steps: Step[] };
const live = admitJob(steps.find((s) => s.path === "/v1/jobs")?.body?.Job ?? {}, CONTEXT).job;
const plans = steps.filter((s) => s.path.endsWith("/plan") && s.recorded.status === 200);

describe("edits of a running service", () => {
  it.each(plans.map((s) => [s.id, s] as const))("%s: the annotated diff", (_id, step) => {
    const { job } = admitJob(step.body?.Job ?? {}, CONTEXT);
    const { Diff, Annotations } = step.recorded.body;
    expect(comparable(annotateDiff(jobDiff(live, job, true), Annotations.DesiredTGUpdates))).toEqual(comparable(Diff));
  });

  // A new datacenter or pool fits the running node or not; the specification does not say.
  const decided = plans.filter((s) => !["edit-datacenters", "edit-node-pool", "edit-constraint-impossible"].includes(s.id));
  it.each(decided.map((s) => [s.id, s] as const))("%s: what happens to the allocations", (_id, step) => {
    const { job } = admitJob(step.body?.Job ?? {}, CONTEXT);
    const updates = step.recorded.body.Annotations.DesiredTGUpdates["g"];
    const kind = groupUpdateKind(live, job, "g");
    if (kind === "destructive") expect(updates?.InPlaceUpdate).toBe(0);
    if (kind === "in_place") expect(updates?.DestructiveUpdate).toBe(0);
    if (kind === "ignore") expect([updates?.InPlaceUpdate, updates?.DestructiveUpdate]).toEqual([0, 0]);
    if ((updates?.DestructiveUpdate ?? 0) > 0) expect(kind).toBe("destructive");
    if ((updates?.InPlaceUpdate ?? 0) > 0) expect(kind).toBe("in_place");
  });

  it("judges every kind of edit somewhere", () => {
    const kinds = decided.map((s) => groupUpdateKind(live, admitJob(s.body?.Job ?? {}, CONTEXT).job, "g"));
    expect(new Set(kinds)).toEqual(new Set(["ignore", "in_place", "destructive"]));
  });
});
