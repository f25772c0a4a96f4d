import { describe, expect, it } from "vitest";
import { ConnectionCut, type Fault } from "./faults.ts";
import { ask, sampleJob } from "./sample.ts";
import { createSimulator } from "./server.ts";

async function strike(fault: Fault) {
  const simulator = createSimulator();
  simulator.faults.add({ method: "PUT", path: "/v1/jobs", ...fault });
  const register = () => ask(simulator, "PUT", "/v1/jobs", { Job: sampleJob("a") });
  const answer = await register().catch((error: unknown) => error);
  return { simulator, answer, registered: simulator.state.jobs.rows.size === 1 };
}

describe("faults", () => {
  it("lose a request before its effect", async () => {
    const { answer, registered } = await strike({ kind: "drop_before" });
    expect(answer).toBeInstanceOf(ConnectionCut);
    expect(registered).toBe(false);
  });

  it("lose an answer after the effect", async () => {
    const { answer, registered } = await strike({ kind: "drop_after" });
    expect(answer).toBeInstanceOf(ConnectionCut);
    expect(registered).toBe(true);
  });

  it.each([
    [429, "Your IP is issuing too many concurrent connections, please rate limit your calls"],
    [500, "No cluster leader"],
    [503, "Service Unavailable"],
  ])("answer %i before the effect, and a proxy may say so after it", async (status, text) => {
    const before = await strike({ kind: "status", status });
    expect(before.answer).toMatchObject({ status, text });
    expect(before.registered).toBe(false);
    const after = await strike({ kind: "status_after", status, text: "proxy" });
    expect(after.answer).toMatchObject({ status, text: "proxy" });
    expect(after.registered).toBe(true);
  });

  it("cut an answer in two", async () => {
    const { answer, registered } = await strike({ kind: "truncate" });
    expect(answer).toBeInstanceOf(SyntaxError);
    expect(registered).toBe(true);
  });

  it("let an answer come late", async () => {
    const simulator = createSimulator();
    simulator.faults.add({ kind: "delay", delayMs: 5000 });
    let done = false;
    const waiting = ask(simulator, "GET", "/v1/jobs").finally(() => {
      done = true;
    });
    for (let i = 0; i < 20; i++) await Promise.resolve();
    expect(done).toBe(false);
    simulator.advance(5000);
    expect((await waiting).status).toBe(200);
  });

  it("strike where, when and as often as they are told", async () => {
    const simulator = createSimulator();
    simulator.faults.add({ kind: "status", path: "/v1/job/*", skip: 1, times: 2, status: 503 });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await ask(simulator, "GET", "/v1/job/x")).status);
    expect(statuses).toEqual([404, 503, 503, 404, 404]);
    expect((await ask(simulator, "GET", "/v1/jobs")).status).toBe(200);
    expect(simulator.faults.list()[0]?.struck).toBe(2);
  });

  it("strike by chance, the same with the same seed", async () => {
    const run = async (seed: number) => {
      const simulator = createSimulator({ seed });
      simulator.faults.add({ kind: "status", probability: 0.5, status: 503 });
      let text = "";
      for (let i = 0; i < 40; i++) text += (await ask(simulator, "GET", "/v1/jobs")).status === 503 ? "x" : ".";
      return text;
    };
    expect(await run(3)).toBe(await run(3));
    expect(await run(3)).not.toBe(await run(4));
    expect(await run(3)).toMatch(/x.*\..*x|\..*x.*\./);
  });

  it("cut the line of a socket", async () => {
    const simulator = createSimulator();
    const server = await simulator.listen();
    try {
      simulator.faults.add({ kind: "drop_after", path: "/v1/jobs", times: 1 });
      await expect(fetch(`${server.address}/v1/jobs`)).rejects.toThrow();
      expect((await fetch(`${server.address}/v1/jobs`)).status).toBe(200);
    } finally {
      await simulator.close();
    }
  });

  it("can be switched over HTTP only where that was allowed", async () => {
    const fault = { kind: "status", path: "/v1/jobs", status: 503 };
    expect((await ask(createSimulator(), "PUT", "/v1/simulator/faults", fault)).status).toBe(404);
    const simulator = createSimulator({ control: true });
    const added = await ask(simulator, "PUT", "/v1/simulator/faults", fault);
    expect((await ask(simulator, "GET", "/v1/jobs")).status).toBe(503);
    await ask(simulator, "DELETE", `/v1/simulator/faults/${added.at("id")}`);
    expect((await ask(simulator, "GET", "/v1/jobs")).status).toBe(200);
    expect((await ask(simulator, "PUT", "/v1/simulator/faults", { kind: "boom" })).status).toBe(400);
  });
});
