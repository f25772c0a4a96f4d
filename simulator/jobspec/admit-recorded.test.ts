import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { admitJob, validateJob } from "./admit.ts";
import { AdmissionError, type AdmitContext, type ApiJob } from "./types.ts";

interface Step {
  readonly id: string;
  readonly path?: string;
  readonly body?: { readonly Job?: ApiJob };
  readonly pick?: readonly string[];
  readonly recorded?: { readonly status: number; readonly body: unknown };
}

const FOLDER = new URL("../recorded/", import.meta.url);
const NAMESPACES = new Set(["default", "team-a", "team-b"]);
const POOLS = new Set(["default", "all"]);

/** Refusals that are about what the server holds, not about the job. */
const ELSEWHERE = /^(Enforcing job modify index|Job ID does not match|No path to region|cannot update|Permission denied)/;

function steps(): (readonly [string, Step])[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const scenario = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as { steps: Step[] };
      return scenario.steps.filter(isJudged).map((step) => [`${name} ${step.id}`, step] as const);
    });
}

function isJudged(step: Step): boolean {
  if (step.body?.Job === undefined || step.recorded === undefined) return false;
  return typeof step.recorded.body !== "string" || !ELSEWHERE.test(step.recorded.body);
}

function contextOf(step: Step): AdmitContext {
  const namespace = new URL(step.path ?? "", "http://localhost").searchParams.get("namespace");
  return {
    region: "global",
    ...(namespace === null ? {} : { requestNamespace: namespace }),
    namespace: (name) => (NAMESPACES.has(name) ? {} : undefined),
    nodePool: (name) => (POOLS.has(name) ? {} : undefined),
    memoryOversubscription: false,
  };
}

function answer(step: Step): { status: number; body: unknown } {
  const job = step.body?.Job ?? {};
  try {
    if (step.path?.startsWith("/v1/validate/job")) return { status: 200, body: validateJob(job, contextOf(step)) };
    return { status: 200, body: { Warnings: admitJob(job, contextOf(step)).warnings } };
  } catch (error) {
    if (error instanceof AdmissionError) return { status: error.status, body: error.message };
    throw error;
  }
}

describe("plan, register and validate judge jobs as recorded", () => {
  it.each(steps())("%s", (_name, step) => {
    const { status, body } = answer(step);
    expect(status).toBe(step.recorded?.status);
    if (status !== 200) expect(body).toBe(step.recorded?.body);
    else if (step.pick === undefined || step.pick.includes("Warnings")) {
      const recorded = step.recorded?.body as { Warnings?: string; ValidationErrors?: unknown };
      const mine = body as { Warnings?: string; ValidationErrors?: unknown };
      expect(mine.Warnings).toBe(recorded.Warnings ?? "");
      expect(mine.ValidationErrors ?? undefined).toEqual(recorded.ValidationErrors);
    }
  });
});
