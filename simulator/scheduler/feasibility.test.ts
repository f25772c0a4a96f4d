import { describe, expect, it } from "vitest";
import { sampleJob } from "../sample.ts";
import { createSimulator } from "../server.ts";
import type { Node } from "../state/cluster-types.ts";
import type { Job } from "../state/types.ts";
import { Feasibility } from "./feasibility.ts";

const simulator = createSimulator({ nodes: 2 });
const [first, second] = [...simulator.state.nodes.rows.values()] as [Node, Node];
const windows = { LTarget: "${attr.kernel.name}", Operand: "=", RTarget: "windows" };
const ineligible = "computed class ineligible";

function jobOf(job: object, ...groups: object[]): Job {
  const base = sampleJob("x", { ...job });
  const [group] = base["TaskGroups"] as [object];
  return simulator.admit({ ...base, TaskGroups: groups.map((one, i) => ({ ...group, ...one, Name: `g${i}` })) }).job;
}

/** What each group is told about each node, in this order. */
function verdicts(job: Job): (string | undefined)[] {
  const feasibility = new Feasibility(job);
  return job.TaskGroups.flatMap((group, i) => {
    feasibility.begin(group);
    return [first, second].map((node) => feasibility.refusal(node, group, `x.g${i}[0]`));
  });
}

describe("feasibility", () => {
  it("remembers for a class of nodes what the job, and what a group, may not have", () => {
    expect(verdicts(jobOf({ Constraints: [windows] }, {}, {}))).toEqual([
      "${attr.kernel.name} = windows",
      ineligible,
      ineligible,
      ineligible,
    ]);
    expect(verdicts(jobOf({}, { Constraints: [windows] }, {}))).toEqual([
      "${attr.kernel.name} = windows",
      ineligible,
      undefined,
      undefined,
    ]);
  });

  it("remembers nothing when a constraint speaks of single nodes", () => {
    const one = { LTarget: "${node.unique.id}", Operand: "=", RTarget: second.ID };
    const job = jobOf({}, { Constraints: [one] });
    expect(verdicts(job)).toEqual([`\${node.unique.id} = ${second.ID}`, undefined]);
    expect(new Feasibility(job).escaped).toBe(true);
    expect(new Feasibility(jobOf({}, {})).escaped).toBe(false);
  });

  it("says of a class whether any group may go there", () => {
    const job = jobOf({}, { Constraints: [windows] }, {});
    const feasibility = new Feasibility(job);
    const name = first.ComputedClass;
    for (const group of job.TaskGroups.slice(0, 1)) feasibility.refusal(first, group, "x");
    expect(feasibility.classes).toEqual({ [name]: false });
    for (const group of job.TaskGroups.slice(1)) feasibility.refusal(first, group, "x");
    expect(feasibility.classes).toEqual({ [name]: true });
    feasibility.forget();
    expect(feasibility.classes).toEqual({});
  });

  it.each([
    [{ Networks: [{ Mode: "cni/mine" }] }, "missing network"],
    [{ Networks: [{ DynamicPorts: [{ Label: "p", HostNetwork: "lan" }] }] }, 'missing host network "lan" for port "p"'],
    [{ Volumes: { v: { Type: "host", Source: "s" } } }, "missing compatible host volumes"],
    [
      {
        Volumes: {
          v: { Type: "csi", Source: "s", PerAlloc: true, AccessMode: "single-node-writer", AttachmentMode: "file-system" },
        },
      },
      "missing CSI volume(s) s[0]",
    ],
    [{ Tasks: [{ Name: "t", Driver: "podman", Config: {} }] }, "missing drivers"],
    [{ Tasks: [{ Name: "t", Driver: "raw_exec", Config: {}, Resources: { Devices: [{ Name: "gpu" }] } }] }, "missing devices"],
  ])("%j: %s", (group, wanted) => {
    expect(verdicts(jobOf({}, group))[0]).toBe(wanted);
  });
});
