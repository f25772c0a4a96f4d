import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { jobDiff } from "../diff/job-diff.ts";
import { admitJob, validateJob } from "./admit.ts";
import { canonicalizeApiJob } from "./canonicalize.ts";
import { comparable } from "./recorded-view.ts";
import type { AdmitContext, ApiJob, ServerJob } from "./types.ts";

interface Step {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly body?: { readonly Job: ApiJob; readonly Diff?: boolean };
  readonly pick?: readonly string[];
  readonly recorded?: { readonly status: number; readonly body: Record<string, unknown> };
}

const FOLDER = new URL("../recorded/", import.meta.url);
const CONTEXT: AdmitContext = {
  region: "global",
  namespace: (name) => (name === "default" ? {} : undefined),
  nodePool: (name) => (name === "default" || name === "all" ? {} : undefined),
  memoryOversubscription: false,
};

function scenario(file: string): readonly Step[] {
  return (JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as { steps: Step[] }).steps;
}

/** The diff without what only a dry run can say. */
function bare(diff: unknown): unknown {
  return JSON.parse(
    JSON.stringify(diff, (key, value: unknown) => (key === "Updates" || key === "Annotations" ? undefined : value)),
  );
}

const files = readdirSync(FOLDER).filter((name) => name.startsWith("job-"));

describe.each(files)("%s", (file) => {
  const steps = scenario(file);
  const parsed = steps.find((s) => s.id === "parse")?.recorded?.body;
  const at = (id: string) => steps.find((s) => s.id === id);

  it("is canonicalized as recorded", () => {
    expect(comparable(canonicalizeApiJob(parsed ?? {}))).toEqual(comparable(at("parse-canonical")?.recorded?.body));
  });

  it("is validated as recorded", () => {
    const step = at("validate");
    expect(comparable(validateJob(step?.body?.Job ?? {}, CONTEXT))).toEqual(comparable(step?.recorded?.body));
  });

  it("is planned anew as recorded", () => {
    const step = at("plan-new");
    const { job, warnings } = admitJob(step?.body?.Job ?? {}, CONTEXT);
    expect(comparable(bare(jobDiff(undefined, job, true)))).toEqual(comparable(bare(step?.recorded?.body["Diff"])));
    expect(warnings).toEqual(step?.recorded?.body["Warnings"] ?? "");
  });

  it("reads back as recorded", () => {
    const { job } = admitJob(at("plan-new")?.body?.Job ?? {}, CONTEXT);
    const drop = (j: unknown) => comparable(j, SERVER_STATE);
    expect(drop(job)).toEqual(drop(at("stored")?.recorded?.body));
  });
});

const SERVER_STATE = new Set(["Status", "SubmitTime", "CreateIndex", "ModifyIndex", "JobModifyIndex", "ID", "Stable"]);

describe("edits of a service", () => {
  const steps = scenario("edits-of-a-service.json");
  const base = steps.find((s) => s.path === "/v1/jobs")?.body?.Job ?? {};
  const live: ServerJob = admitJob(base, CONTEXT).job;
  const plans = steps.filter((s) => s.path.endsWith("/plan") && s.recorded?.status === 200);
  it.each(plans.map((s) => [s.id, s] as const))("%s", (_id, step) => {
    const { job } = admitJob(step.body?.Job ?? {}, CONTEXT);
    expect(comparable(bare(jobDiff(live, job, true)))).toEqual(comparable(bare(step.recorded?.body["Diff"])));
  });
});
