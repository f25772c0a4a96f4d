/**
 * One generator, two servers: what a real Nomad and the simulator answer to the same requests must be the same.
 *
 * `npm run e2e -- differential`, with a `nomad` on PATH. The real one runs as a server alone; the test itself plays the clients of its
 * nodes, so that allocations fare on both as the test says. By the environment: `DIFFERENTIAL_SEED` (1), and how much of each:
 * `DIFFERENTIAL_PLANS` (10000), `DIFFERENTIAL_PARSES` (2000), `DIFFERENTIAL_READS` (6000), `DIFFERENTIAL_WRITES` (1000),
 * `DIFFERENTIAL_LIVES` (24; a life takes seconds). A difference is shrunk and printed as a case for `testkit/differential/cases.json`,
 * whose answers `DIFFERENTIAL_RECORD=1` takes anew from the real server.
 */
import { writeFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lifeCampaign, parseCampaign, planCampaign, summaryLine } from "../testkit/differential/campaign.ts";
import { type Case, casesFile, playCase, readCases } from "../testkit/differential/cases.ts";
import { type Found, noCounts } from "../testkit/differential/counts.ts";
import { requestCampaign } from "../testkit/differential/requests/campaign.ts";
import { differs, shrink } from "../testkit/differential/shrink.ts";
import { Twins } from "../testkit/differential/twins.ts";
import { findNomad } from "../testkit/real-nomad.ts";

const binary = await findNomad();
const number = (name: string, otherwise: number) => Number(process.env[`DIFFERENTIAL_${name}`] ?? otherwise);
const seed = number("SEED", 1);
const lanes = 12;
/** Which group of a job is looked at first a real server leaves to chance: so often it may be asked for the answer on record. */
const tries = 12;

/** Shrinks what can be shrunk, and prints it in the form of a recorded case. */
async function show(twins: Twins, found: readonly Found[]): Promise<string[]> {
  for (const { seed: at, what, exchanges } of found.slice(0, 3)) {
    const smallest = (await differs(twins, exchanges)) ? await shrink(twins, exchanges) : exchanges;
    console.log(`seed ${at}: ${what}\n${JSON.stringify({ name: `seed ${at}`, exchanges: smallest }, null, 1)}`);
  }
  return found.map(({ what }) => what);
}

if (binary === undefined) {
  it("announces that nothing was compared: no `nomad` on PATH", ({ skip }) => {
    console.warn("differential: no `nomad` on PATH; the simulator was compared with nothing");
    skip("no `nomad` on PATH");
  });
}

describe.skipIf(binary === undefined)("a real Nomad and the simulator", () => {
  let twins: Twins;
  const counts = noCounts();
  const requests = { reads: 0, writes: 0 };
  let differences = 0;

  beforeAll(async () => {
    twins = await Twins.start(binary ?? "");
    await twins.addNode();
  });

  afterAll(async () => {
    await twins?.stop();
    console.log(`differential: ${requests.reads} reads and ${requests.writes} changes of one world`);
    console.log(summaryLine(seed, { ...counts, reads: counts.reads + requests.reads }, differences));
  });

  it("answer the recorded cases as they were answered", async () => {
    const cases = await readCases();
    const anew: Case[] = [];
    for (const one of cases) {
      const asRecorded = process.env["DIFFERENTIAL_RECORD"] === undefined;
      let { real, simulated } = await playCase(twins, one);
      for (let again = 1; asRecorded && again < tries && !isDeepStrictEqual(real, one.answer); again++)
        ({ real, simulated } = await playCase(twins, one));
      anew.push({ ...one, answer: real });
      if (asRecorded) expect({ [one.name]: real }).toEqual({ [one.name]: one.answer });
      expect({ [one.name]: simulated }).toEqual({ [one.name]: real });
    }
    if (process.env["DIFFERENTIAL_RECORD"] !== undefined) await writeFile(casesFile, `${JSON.stringify(anew, null, 1)}\n`);
    expect(cases.length).toBeGreaterThan(0);
  });

  it("plan alike", { timeout: 900_000 }, async () => {
    const found = await planCampaign(twins, seed, number("PLANS", 10_000), counts);
    differences += found.length;
    expect(await show(twins, found)).toEqual([]);
    expect(counts.plans).toBeGreaterThanOrEqual(number("PLANS", 10_000));
  });

  it("parse alike, also what is wrong", { timeout: 900_000 }, async () => {
    const found = await parseCampaign(twins, seed, number("PARSES", 2_000), counts);
    differences += found.length;
    expect(await show(twins, found)).toEqual([]);
  });

  it("answer requests alike, also wrong ones", { timeout: 900_000 }, async () => {
    const found = await requestCampaign(binary ?? "", seed, number("READS", 6_000), number("WRITES", 1_000), requests);
    differences += found.length;
    for (const { request, what } of found.slice(0, 3)) console.log(`${JSON.stringify(request)}\n${what}`);
    expect(found.map(({ request, what }) => `${request.method} ${request.path} ${what}`)).toEqual([]);
  });

  it("let jobs live alike", { timeout: 900_000 }, async () => {
    const found = await lifeCampaign(twins, seed, number("LIVES", 24), lanes, counts);
    differences += found.length;
    for (const { seed: at, what, steps } of found.slice(0, 3)) console.log(`life ${at}: ${what}\n${JSON.stringify(steps)}`);
    expect(found.map(({ what }) => what)).toEqual([]);
    expect(counts.lives).toBe(number("LIVES", 24));
  });
});
