import { beforeAll, describe, expect, it } from "vitest";
import { type HclParser, loadHclParser } from "../../hcl/parser.ts";
import { admitJob } from "../../simulator/jobspec/admit.ts";
import { parseJob } from "../../simulator/jobspec/parse.ts";
import { API_JOB_TABLES } from "../../simulator/jobspec/schema-api.ts";
import { API_SERVICE_TABLES } from "../../simulator/jobspec/schema-api-service.ts";
import type { AdmitContext, ApiJob } from "../../simulator/jobspec/types.ts";
import { seededRandom } from "../../simulator/random.ts";
import { editJob } from "./edit-job.ts";
import { generateJob } from "./generate-job.ts";

const CONTEXT: AdmitContext = { region: "global", namespace: () => ({}), nodePool: () => ({}), memoryOversubscription: false };
const SEEDS = Array.from({ length: 120 }, (_, i) => i + 1);

describe("generated jobs", () => {
  let parser: HclParser;
  beforeAll(async () => {
    parser = await loadHclParser();
  });

  const parse = (seed: number): ApiJob | undefined => {
    try {
      return parseJob({ hcl: generateJob(seededRandom(seed)).hcl, variables: "", canonicalize: false }, parser);
    } catch {
      return undefined;
    }
  };

  it("are the same for the same seed", () => {
    for (const seed of SEEDS.slice(0, 20)) {
      expect(generateJob(seededRandom(seed)).hcl).toBe(generateJob(seededRandom(seed)).hcl);
      const job = parse(seed) ?? {};
      expect(editJob(seededRandom(seed), job)).toEqual(editJob(seededRandom(seed), job));
    }
  });

  it("are mostly valid, and not always", () => {
    const valid = SEEDS.filter((seed) => {
      const job = parse(seed);
      if (job === undefined) return false;
      try {
        admitJob(job, CONTEXT);
        return true;
      } catch {
        return false;
      }
    });
    expect(valid.length).toBeGreaterThan(SEEDS.length * 0.6);
    expect(valid.length).toBeLessThan(SEEDS.length);
  });

  it("use nearly every block of the job specification", () => {
    const text = SEEDS.map((seed) => generateJob(seededRandom(seed)).hcl).join("\n");
    const tables = Object.values({ ...API_JOB_TABLES, ...API_SERVICE_TABLES }).join(",");
    const blocks = new Set([...tables.matchAll(/ (\w+)\{\}/g)].map(([, name]) => name ?? ""));
    const missing = [...blocks].filter((name) => !new RegExp(`\\b${name} (=|\\{|")`).test(text));
    expect(missing.length).toBeLessThan(blocks.size * 0.2);
  });

  it("are edited without touching the original, and mostly differ afterwards", () => {
    let changed = 0;
    for (const seed of SEEDS.slice(0, 60)) {
      const job = parse(seed);
      if (job === undefined) continue;
      const before = JSON.stringify(job);
      const edited = editJob(seededRandom(seed + 1_000), job);
      expect(JSON.stringify(job)).toBe(before);
      if (JSON.stringify(edited) !== before) changed++;
    }
    expect(changed).toBeGreaterThan(30);
  });
});
