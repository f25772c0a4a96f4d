import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { play, type Scenario } from "./replay/player.ts";
import { createSimulator } from "./server.ts";

const folder = new URL("./recorded/", import.meta.url);
const scenarios = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Scenario);

describe("exchanges with a real server", () => {
  it("are all here", () => {
    expect(scenarios.length).toBe(33);
    expect(scenarios.reduce((sum, scenario) => sum + scenario.steps.length, 0)).toBe(612);
  });

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("%s is answered as recorded", async (_, scenario) => {
    const simulator = createSimulator({ acl: scenario.needs === "acl" });
    try {
      for (const step of await play(simulator, scenario)) expect({ [step.id]: step.got }).toEqual({ [step.id]: step.recorded });
    } finally {
      await simulator.close();
    }
  });

  it("would not agree with a server that answers otherwise", async () => {
    const scenario = scenarios.find((one) => one.name === "register-index-rules");
    const simulator = createSimulator();
    simulator.faults.add({
      kind: "status",
      method: "PUT",
      path: "/v1/jobs",
      skip: 3,
      times: 1,
      status: 500,
      text: "rpc error: EOF",
    });
    const played = await play(simulator, scenario ?? { name: "", steps: [] });
    expect(played.some((step) => JSON.stringify(step.got) !== JSON.stringify(step.recorded))).toBe(true);
    await simulator.close();
  });
});
