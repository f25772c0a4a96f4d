import { describe, expect, it } from "vitest";
import type { Action, History } from "./actions.ts";
import { brokenBuilds } from "./breakages.ts";
import { campaign, explainFailure } from "./campaign.ts";
import { generateHistory } from "./generate.ts";
import { play } from "./play.ts";
import { shrink } from "./shrink.ts";
import { invariants } from "./violation.ts";

/** How long the campaign of the test run takes, ms. */
const campaignMs = 20_000;
/** Histories within which a broken build has to be found, beginning with the seed that is noted with it. */
const mostHistories = 40;
const patienceMs = 180_000;

describe("the simulation", () => {
  it(
    "finds no broken rule in twenty seconds of histories",
    async () => {
      const begun = performance.now();
      const result = await campaign({ seed: 1, goOn: () => performance.now() - begun < campaignMs });
      if (result.failed !== undefined) expect.fail(await explainFailure(result.failed, 60));
      expect(result.histories).toBeGreaterThan(0);
      expect(result.crashes).toBeGreaterThan(0);
    },
    patienceMs,
  );

  it(
    "plays the same seed the same way, and another seed another way",
    async () => {
      const first = await play(generateHistory(11));
      const again = await play(generateHistory(11));
      const other = await play(generateHistory(12));
      expect(generateHistory(11)).toEqual(generateHistory(11));
      expect([again.digest, again.counters]).toEqual([first.digest, first.counters]);
      expect(other.digest).not.toBe(first.digest);
    },
    patienceMs,
  );

  it("lets a process die before and after the effect of a call", async () => {
    const [commit] = generateHistory(3).actions;
    if (commit === undefined) throw new Error("a history begins with a commit");
    const dying = (when: "before" | "after"): History => ({
      ...generateHistory(3),
      actions: [commit, ...Array.from({ length: 12 }, (_, calls): Action => ({ do: "crash", calls, when, downMs: 0 }))],
    });
    for (const when of ["before", "after"] as const) {
      const { counters, violation } = await play(dying(when));
      expect([when, violation, counters.crashes]).toEqual([when, undefined, 12]);
      expect(counters.lives).toBeGreaterThan(12);
    }
  });
});

describe("broken builds", () => {
  it("are there for every rule", () => {
    const covered = new Set(brokenBuilds.flatMap((build) => build.breaks));
    expect(Object.keys(invariants).filter((rule) => !covered.has(rule as keyof typeof invariants))).toEqual([]);
  });

  it.each(brokenBuilds.map((build) => [build.name, build] as const))(
    "one that %s is found",
    async (_name, build) => {
      const { failed } = await campaign({ seed: build.seed, goOn: (played) => played < mostHistories, breakage: build });
      expect(build.breaks).toContain(failed?.violation.invariant);
    },
    patienceMs,
  );
});

it(
  "shortens a failing history to what matters",
  async () => {
    const build = brokenBuilds.find((each) => each.breaks.includes("I10"));
    if (build === undefined) throw new Error("no build breaks I10");
    const { failed } = await campaign({ seed: build.seed, goOn: (played) => played < mostHistories, breakage: build });
    if (failed === undefined) throw new Error("nothing was found");
    const short = await shrink(failed.history, failed.violation.invariant, { breakage: build, mostRuns: 80 });
    expect(short.actions.length).toBeLessThan(failed.history.actions.length);
    expect((await play(short, { breakage: build })).violation?.invariant).toBe(failed.violation.invariant);
  },
  patienceMs,
);
