import { describe, expect, it } from "vitest";
import { sampleJob } from "../sample.ts";
import { createSimulator } from "../server.ts";
import type { Node } from "../state/cluster-types.ts";
import type { Allocation } from "../state/types.ts";
import { SpreadScore } from "./spread-score.ts";

const simulator = createSimulator({ nodes: [{ class: "a" }, { class: "b" }] });
const [a, b] = [...simulator.state.nodes.rows.values()].sort((x, y) => (x.NodeClass < y.NodeClass ? -1 : 1)) as [Node, Node];
const on = (...nodes: Node[]) => nodes.map((node) => ({ NodeID: node.ID }) as Allocation);

function scores(spread: object, existing: Allocation[], stopping: Allocation[] = [], proposed: Allocation[] = []): number[] {
  const { job } = simulator.admit(
    sampleJob("x", {}, { Count: 4, Spreads: [{ Attribute: "${node.class}", Weight: 100, ...spread }] }),
  );
  const score = new SpreadScore(job, (id) => simulator.state.nodes.get(id));
  const [group] = job.TaskGroups;
  if (group === undefined) throw new Error("no group");
  return [a, b].map((node) => score.of(node, group, () => ({ existing, stopping, proposed })));
}

describe("the score of a spread", () => {
  it("is nothing while nothing is placed, and then draws to where less is", () => {
    expect(scores({}, [])).toEqual([0, 0]);
    expect(scores({}, on(a))).toEqual([-1, 1].map((n) => expect.closeTo(n, 9)));
    expect(scores({}, on(a, a, b))).toEqual([-1, 1]);
    expect(scores({}, on(a, b))).toEqual([-1, -1]);
  });

  it("counts what this evaluation places, and not what it stops", () => {
    expect(scores({}, on(a), [], on(b, b))).toEqual([1, -1]);
    expect(scores({}, on(a, a, b), on(a))).toEqual([-1, -1]);
  });

  it("draws to the wanted share; the values that nobody named share the rest", () => {
    const target = { SpreadTarget: [{ Value: "a", Percent: 75 }] };
    expect(scores(target, [])).toEqual([expect.closeTo(2 / 3, 9), 0]);
    expect(scores(target, on(b))).toEqual([expect.closeTo(2 / 3, 9), -1]);
  });

  it("is the lowest where the attribute is not there at all", () => {
    expect(scores({ Attribute: "${meta.rack}" }, on(a))).toEqual([-1, -1]);
  });
});
