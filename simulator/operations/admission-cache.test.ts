import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import type { AdmitContext, ApiJob } from "../jobspec/types.ts";
import { type Rec, recs } from "../jobspec/values.ts";
import { jobRules } from "../rules.ts";
import { sampleJob } from "../sample.ts";
import { State } from "../state/state.ts";
import { rememberAdmissions } from "./admission-cache.ts";

const context: AdmitContext = {
  region: "global",
  namespace: () => ({}),
  nodePool: () => ({}),
  memoryOversubscription: false,
  randomName: () => "abc123",
};

const FOLDER = new URL("../recorded/", import.meta.url);

/** Every job that was ever sent in a recording. */
function recordedJobs(): (readonly [string, ApiJob])[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  return files.flatMap((name) => {
    const { steps } = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as { steps: { id: string; body?: Rec }[] };
    return steps.flatMap(({ id, body }) => (isJob(body?.["Job"]) ? [[`${name} ${id}`, body["Job"]] as const] : []));
  });
}

function isJob(job: unknown): job is ApiJob {
  return typeof job === "object" && job !== null && "TaskGroups" in job;
}

const service = { Provider: "nomad", PortLabel: "8080" };
const own: (readonly [string, ApiJob])[] = [
  ["no name", { ...sampleJob("planned"), Name: null }],
  ["a service named after its job", sampleJob("planned", {}, { Services: [service] })],
  ["a service whose name refers to its job", sampleJob("planned", {}, { Services: [{ ...service, Name: "a-${JOB}" }] })],
  ["a scaling policy", sampleJob("planned", {}, { Scaling: { Min: 1, Max: 2 } })],
  ["keys in two spellings", { ...sampleJob("planned"), id: "spelled", name: "spelled" }],
  ["no configuration", sampleJob("planned", {}, {}, { Config: {} })],
  ["a configuration in two spellings", sampleJob("planned", {}, {}, { config: { command: "/bin/false" } })],
];

/** The same job under another name, with other commands, both, and with names that are refused. */
function variants(job: ApiJob): ApiJob[] {
  const other: ApiJob = JSON.parse(JSON.stringify(job));
  for (const [g, group] of recs(other, "TaskGroups").entries()) {
    for (const [t, task] of recs(group, "Tasks").entries()) task["Config"] = { command: `/bin/other-${g}-${t}`, args: [] };
  }
  const named = { ID: "else.where_1", Name: "else.where_1" };
  return [
    { ...job, ID: "elsewhere" },
    { ...job, ...named },
    other,
    { ...other, ...named },
    { ...job, ID: "a b" },
    { ...job, Name: "" },
  ];
}

function outcome(admit: () => unknown): unknown {
  try {
    return admit();
  } catch (error) {
    return error;
  }
}

describe("remembered admissions", () => {
  it.each([...recordedJobs(), ...own])("are the same as new ones: %s", (_name, job) => {
    const { admit } = rememberAdmissions(jobRules, new State());
    for (const one of [job, ...variants(job), job]) {
      expect(outcome(() => admit(one, context))).toEqual(outcome(() => jobRules.admit(one, context)));
    }
  });

  it("are asked for once for jobs that differ in name and command alone, and share the rest", () => {
    const admit = vi.fn(jobRules.admit);
    const rules = rememberAdmissions({ ...jobRules, admit }, new State());
    const first = rules.admit(sampleJob("planned"), context).job;
    expect(rules.admit(sampleJob("planned"), context).job).toBe(first);
    const renamed = rules.admit(sampleJob("renamed"), context).job;
    expect(renamed["ID"]).toBe("renamed");
    expect(recs(renamed, "TaskGroups")[0]).toBe(recs(first, "TaskGroups")[0]);
    const changed = rules.admit(sampleJob("renamed", {}, {}, { Config: { command: "/bin/false" } }), context).job;
    const [task] = recs(recs(changed, "TaskGroups")[0], "Tasks");
    expect(task?.["Config"]).toEqual({ command: "/bin/false" });
    expect(task?.["Resources"]).toBe(recs(recs(first, "TaskGroups")[0], "Tasks")[0]?.["Resources"]);
    expect(admit).toHaveBeenCalledTimes(1);
  });
});
