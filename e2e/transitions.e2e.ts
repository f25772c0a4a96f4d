/** Every row of operator §10.1 with the real process: who moves a deployment from where to where, and what is written with the move. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeploymentJson } from "../api/contract.ts";
import { DoorWorld } from "./suites/door-world.ts";
import { serviceJob } from "./suites/job-text.ts";
import { theMove } from "./suites/transition-row.ts";
import { birthRows, detectedRows, pendingRows } from "./suites/transitions-birth.rows.ts";
import { applyRows, hookRows } from "./suites/transitions-run.rows.ts";

const rows = [...birthRows, ...detectedRows, ...pendingRows, ...hookRows, ...applyRows];

let world: DoorWorld;

beforeAll(async () => {
  world = await DoorWorld.open();
  await world.begin();
  for (const row of rows) row.prepare?.(world);
  world.boltMove("left-over", "applying");
  const files = Object.assign({}, ...rows.map((row) => row.files)) as Record<string, string>;
  await world.commit({ ...files, "left-over.hcl": serviceJob({ id: "left-over" }) });
});

afterAll(() => world.close());

describe.concurrent("a transition", () => {
  for (const row of rows)
    it(row.name, async () => {
      await row.run(world);
    });
});

describe("what every row stands on", () => {
  it("anything else is refused: nothing leaves a state that is final", async () => {
    const { deployments } = await world.nops.get<{ deployments: DeploymentJson[] }>("/api/v1/deployments?limit=200");
    const finals = ["completed", "failed", "rejected", "superseded"] as const;
    for (const state of finals) {
      const one = deployments.find((each) => each.state === state);
      if (one === undefined) throw new Error(`no deployment is ${state}`);
      const acts = ["reject", "promote", "fail", ...(state === "completed" || state === "superseded" ? ["retry"] : [])];
      const statuses = [await world.nops.refusal(`/api/v1/deployments/${one.id}/approve`, { spec_hash: one.spec_hash })];
      for (const act of acts) statuses.push(await world.nops.refusal(`/api/v1/deployments/${one.id}/${act}`));
      expect(statuses.map(({ status }) => status)).toEqual(statuses.map(() => 409));
      expect(await world.nops.get(`/api/v1/deployments/${one.id}`)).toMatchObject({ state });
    }
  });

  it("detected → pending_approval: healing, when the policy by now asks for a person", async () => {
    const left = await world.deployment("left-over", ({ state }) => state === "detected");
    await world.kill();
    await world.begin({ config: { approval: { min_policy: { default: "approval" } } } });
    await world.deployment("left-over", ({ id, state }) => id === left.id && state === "pending_approval");
    expect(await theMove(world, left.id, "detected", "pending_approval")).toMatchObject({ reason: "waiting_for_approval" });
    expect(world.registers("left-over")).toBe(0);
  });
});
