import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadHclParser } from "../../hcl/parser.ts";
import type { Random } from "../../model/clock.ts";
import type { ObjectDiff } from "../../model/nomad.ts";
import { editJob } from "../../testkit/job-generator/edit-job.ts";
import { generateJob } from "../../testkit/job-generator/generate-job.ts";
import { admitJob, specChanged } from "../jobspec/admit.ts";
import { parseJob } from "../jobspec/parse.ts";
import { AdmissionError, type AdmitContext, type ApiJob, ParseFailure, type ServerJob } from "../jobspec/types.ts";
import type { Rec } from "../jobspec/values.ts";
import { seededRandom } from "../random.ts";
import { jobDiff } from "./job-diff.ts";
import { groupUpdateKind } from "./update-kind.ts";

const parser = await loadHclParser();
const CONTEXT: AdmitContext = { region: "global", namespace: () => ({}), nodePool: () => ({}), memoryOversubscription: false };

/** The generator makes bad jobs, too. */
function generated(random: Random): ApiJob | undefined {
  try {
    return parseJob({ hcl: generateJob(random).hcl, variables: "", canonicalize: false }, parser);
  } catch (error) {
    if (error instanceof ParseFailure) return undefined;
    throw error;
  }
}

function admitted(api: ApiJob | undefined): ServerJob | undefined {
  if (api === undefined) return undefined;
  try {
    return admitJob(api, CONTEXT).job;
  } catch (error) {
    if (error instanceof AdmissionError) return undefined;
    throw error;
  }
}

const TASK = { Name: "t", Driver: "raw_exec", Config: { command: "sleep" } };

function job(task: Rec = {}, group: Rec = {}, top: Rec = {}): ServerJob {
  const found = admitted({
    ID: "x",
    Type: "service",
    TaskGroups: [{ Name: "g", Tasks: [{ ...TASK, ...task }], ...group }],
    ...top,
  });
  if (found === undefined) throw new Error("not admitted");
  return found;
}

function groupObjects(before: ServerJob, after: ServerJob): readonly ObjectDiff[] {
  return jobDiff(before, after, false).TaskGroups?.[0]?.Objects ?? [];
}

function taskObjects(before: ServerJob, after: ServerJob): readonly ObjectDiff[] {
  return jobDiff(before, after, false).TaskGroups?.[0]?.Tasks?.[0]?.Objects ?? [];
}

/** Kind, name and fields of each object, and the same of those inside. */
function outline(diffs: readonly ObjectDiff[] | null | undefined): unknown[] {
  return (diffs ?? []).map((d) => {
    const fields = (d.Fields ?? []).map((f) => `${f.Name}: ${f.Old} > ${f.New}`);
    return [`${d.Type} ${d.Name}`, fields, ...outline(d.Objects)];
  });
}

describe("jobDiff over generated jobs", () => {
  it("finds nothing between a job and itself, and everything added or deleted against none", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), (seed) => {
        const live = admitted(generated(seededRandom(seed)));
        // Nomad takes a multiregion block without regions for different from itself.
        if (live === undefined || live["Multiregion"] !== null) return;
        const same = jobDiff(live, live, true);
        expect([same.Type, same.Fields, same.Objects]).toEqual(["None", null, null]);
        expect(jobDiff(undefined, live, true).Type).toBe("Added");
        expect(jobDiff(live, undefined, true).Type).toBe("Deleted");
      }),
      { numRuns: 25 },
    );
  });

  it("shows nothing where nothing of the specification changed, and contexts only add fields", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), (seed) => {
        const random = seededRandom(seed);
        const api = generated(random);
        const [live, next] = [admitted(api), admitted(api === undefined ? undefined : editJob(random, api))];
        if (live === undefined || next === undefined || live["Multiregion"] !== null) return;
        const [terse, full] = [jobDiff(live, next, false), jobDiff(live, next, true)];
        expect(full.Type).toBe(terse.Type);
        if (!specChanged(live, next)) expect(terse.Type).toBe("None");
        else expect(groupUpdateKind(live, next, "no such group")).toBe("destructive");
      }),
      { numRuns: 25 },
    );
  });
});

describe("how single blocks are shown", () => {
  it("a changed network goes and comes again", () => {
    const network = (label: string) => ({ Networks: [{ Mode: "host", DynamicPorts: [{ Label: label }] }] });
    const names = groupObjects(job({}, network("a")), job({}, network("b"))).map((d) => `${d.Type} ${d.Name}`);
    expect(names).toEqual(["Added Network", "Deleted Network"]);
  });

  it("a network whose lists are empty instead of absent is the same one", () => {
    const network = (options: readonly string[] | null) => ({
      Networks: [{ Mode: "host", DNS: { Servers: null, Options: options } }],
    });
    expect(groupObjects(job({}, network(null)), job({}, network([])))).toEqual([]);
    expect(groupObjects(job({}, network(null)), job({}, network(["rotate"])))).toHaveLength(2);
  });

  it("a volume by its name", () => {
    const volumes = (readOnly: boolean) => ({ Volumes: { v: { Name: "v", Type: "host", Source: "s", ReadOnly: readOnly } } });
    expect(outline(groupObjects(job({}, volumes(false)), job({}, volumes(true))))).toEqual([
      ["Edited Volume", ["ReadOnly: false > true"]],
    ]);
  });

  it("templates by their destination", () => {
    const templates = (first: string) => ({
      Templates: [
        { EmbeddedTmpl: first, DestPath: "a" },
        { EmbeddedTmpl: "x", DestPath: "b" },
      ],
    });
    expect(outline(taskObjects(job(templates("1")), job(templates("2"))))).toEqual([
      ["Edited Template", ["EmbeddedTmpl: 1 > 2"]],
    ]);
  });

  it("a scaling policy with its free-form part", () => {
    const scaling = (max: number, cooldown: string) => ({ Scaling: { Min: 1, Max: max, Policy: { cooldown } } });
    expect(outline(groupObjects(job({}, scaling(2, "1m")), job({}, scaling(3, "2m"))))).toEqual([
      ["Edited Scaling", ["Max: 2 > 3"], ["Edited Policy", ["cooldown: 1m > 2m"]]],
    ]);
  });

  it("a service with its checks", () => {
    const service = (path: string) => ({
      Services: [
        {
          Name: "web",
          Provider: "nomad",
          Address: "10.0.0.1",
          PortLabel: "80",
          Checks: [{ Name: "c", Type: "http", Path: path, Interval: 10_000_000_000, Timeout: 2_000_000_000 }],
        },
      ],
    });
    expect(outline(groupObjects(job({}, service("/a")), job({}, service("/b"))))).toEqual([
      ["Edited Service", [], ["Edited Check", ["Path: /a > /b"]]],
    ]);
  });

  it.each([
    ["a hook", { Lifecycle: { Hook: "prestart" } }],
    ["a task's own restart", { RestartPolicy: { Attempts: 7, Interval: 60_000_000_000, Delay: 1_000_000_000, Mode: "fail" } }],
  ])("%s is not shown, though the task is edited", (_name, task) => {
    const main = { Name: "main", Driver: "raw_exec", Config: { command: "sleep" } };
    const with_ = (extra: Rec) => job({}, { Tasks: [main, { ...TASK, ...extra }] });
    const tasks = jobDiff(with_({}), with_(task), false).TaskGroups?.[0]?.Tasks ?? [];
    expect(tasks.map((t) => [t.Name, t.Type, t.Fields, t.Objects])).toEqual([
      ["main", "None", null, null],
      ["t", "Edited", null, null],
    ]);
  });
});

describe("groupUpdateKind", () => {
  it("takes ports in another order for other ports", () => {
    const ports = (...labels: string[]) => ({ Networks: [{ Mode: "host", DynamicPorts: labels.map((Label) => ({ Label })) }] });
    expect(groupUpdateKind(job({}, ports("a", "b")), job({}, ports("a", "b")), "g")).toBe("ignore");
    expect(groupUpdateKind(job({}, ports("a", "b")), job({}, ports("b", "a")), "g")).toBe("destructive");
  });
});
