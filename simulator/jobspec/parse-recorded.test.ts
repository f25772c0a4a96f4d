import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { type HclParser, loadHclParser } from "../../hcl/parser.ts";
import { parseJob } from "./parse.ts";
import { comparable } from "./recorded-view.ts";
import { ParseFailure } from "./types.ts";
import type { Rec } from "./values.ts";

interface Step {
  readonly id: string;
  readonly path: string;
  readonly body?: { readonly JobHCL?: string; readonly Variables?: string; readonly Canonicalize?: boolean };
  readonly exact?: boolean;
  readonly pick?: readonly string[];
  readonly recorded?: { readonly status: number; readonly body: unknown };
}

const FOLDER = new URL("../recorded/", import.meta.url);

function parseSteps(): (readonly [string, Step])[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const { steps } = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as { steps: Step[] };
      return steps
        .filter(
          (step) =>
            step.path?.startsWith("/v1/jobs/parse") && typeof step.body?.JobHCL === "string" && step.recorded?.status !== 403,
        )
        .map((step) => [`${name} ${step.id}`, step] as const);
    });
}

describe("parse answers as recorded", () => {
  let parser: HclParser;
  beforeAll(async () => {
    parser = await loadHclParser();
  });

  it.each(parseSteps())("%s", (_name, step) => {
    const { JobHCL: hcl = "", Variables: variables = "", Canonicalize: canonicalize = false } = step.body ?? {};
    let answer: unknown;
    let status = 200;
    try {
      answer = parseJob({ hcl, variables, canonicalize }, parser);
    } catch (error) {
      if (!(error instanceof ParseFailure)) throw error;
      [answer, status] = [error.message, error.status];
    }
    if (step.pick !== undefined && status === 200) answer = picked(answer, step.pick);
    const view = (v: unknown) => (step.exact === true ? sorted(v) : comparable(v));
    expect({ status, body: view(answer) }).toEqual({ status: step.recorded?.status, body: view(step.recorded?.body) });
  });
});

/** Keys in order; null and empty stay what they are. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  );
}

/** The wanted parts of an answer, under their dotted paths. */
function picked(value: unknown, paths: readonly string[]): unknown {
  return Object.fromEntries(paths.map((path) => [path, path.split(".").reduce<unknown>((v, key) => (v as Rec)?.[key], value)]));
}
