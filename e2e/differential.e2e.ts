/** One generator, two servers: what a real Nomad and the simulator answer to the same requests must be the same. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Counts, comparePlans, type Found } from "../testkit/differential/plans.ts";
import { Twins } from "../testkit/differential/twins.ts";
import { findNomad } from "../testkit/real-nomad.ts";

const binary = await findNomad();
const seed = Number(process.env["DIFFERENTIAL_SEED"] ?? 1);
const jobs = Number(process.env["DIFFERENTIAL_JOBS"] ?? 500);

describe.skipIf(binary === undefined)("a real Nomad and the simulator", () => {
  let twins: Twins;
  const counts: Counts = { plans: 0, parses: 0, registers: 0, reads: 0 };

  beforeAll(async () => {
    twins = await Twins.start(binary ?? "");
    await twins.addNode();
  });

  afterAll(async () => {
    await twins?.stop();
  });

  it("plan alike", async () => {
    const found: Found[] = [];
    for (let i = 0; i < jobs; i++) found.push(...(await comparePlans(twins, { seed: seed + i, edits: 20 }, counts)));
    for (const { seed: at, what } of found) console.log(`seed ${at}: ${what.slice(0, 1000)}`);
    console.log(
      `differential: ${counts.plans} plans, ${counts.parses} parses, ${counts.registers} registers on seed ${seed}, ${found.length} differences`,
    );
    expect(found.length).toBe(0);
  }, 600_000);
});
