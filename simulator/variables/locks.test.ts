import { describe, expect, it } from "vitest";
import { ask } from "../sample.ts";
import { createSimulator, type Simulator } from "../server.ts";

const acquire = (simulator: Simulator, body: object = {}) =>
  ask(simulator, "PUT", "/v1/var/lead?lock-acquire", { Items: { who: "me" }, Lock: { TTL: "10s", LockDelay: "1s" }, ...body });

describe("variables", () => {
  it("are written only over the index that the writer knows", async () => {
    const simulator = createSimulator();
    const put = (cas: number, value: string) => ask(simulator, "PUT", `/v1/var/a?cas=${cas}`, { Items: { v: value } });
    const first = await put(0, "1");
    expect(first.status).toBe(200);
    const conflict = await put(0, "2");
    expect(conflict.status).toBe(409);
    expect((JSON.parse(conflict.text) as { Items: unknown }).Items).toEqual({ v: "1" });
    expect((await put(Number(first.at("ModifyIndex")), "3")).status).toBe(200);
    expect((await put(Number(first.at("ModifyIndex")), "4")).status).toBe(409);
    expect((await ask(simulator, "GET", "/v1/var/a")).at("Items")).toEqual({ v: "3" });
    expect((await ask(simulator, "DELETE", `/v1/var/a?cas=${first.at("ModifyIndex")}`)).status).toBe(409);
  });
});

describe("locks", () => {
  it("keep others out until they are given back", async () => {
    const simulator = createSimulator();
    const mine = (await acquire(simulator)).at("Lock.ID");
    expect((await acquire(simulator)).status).toBe(409);
    expect((await ask(simulator, "PUT", "/v1/var/lead", { Items: { who: "thief" } })).status).toBe(409);
    expect(
      (await ask(simulator, "PUT", "/v1/var/lead?lock-release", { Lock: { ID: "00000000-0000-4000-8000-000000000000" } })).status,
    ).toBe(409);
    expect((await ask(simulator, "PUT", "/v1/var/lead?lock-release", { Lock: { ID: mine } })).status).toBe(200);
    expect((await acquire(simulator)).status).toBe(200);
  });

  it("are lost after twice their TTL, and free after their delay", async () => {
    const simulator = createSimulator();
    const mine = (await acquire(simulator)).at("Lock.ID");
    const renew = () => ask(simulator, "PUT", "/v1/var/lead?lock-renew", { Lock: { ID: mine } });
    simulator.advance(19_900);
    expect((await renew()).status).toBe(200);
    simulator.advance(19_900);
    expect((await acquire(simulator)).status).toBe(409);
    simulator.advance(200);
    expect((await renew()).status).toBe(409);
    expect((await acquire(simulator)).status).toBe(409);
    simulator.advance(1000);
    expect((await acquire(simulator)).status).toBe(200);
  });

  it("stand anew after a restore", async () => {
    const simulator = createSimulator();
    await acquire(simulator);
    simulator.advance(15_000);
    simulator.restore(simulator.snapshot());
    simulator.advance(15_000);
    expect((await acquire(simulator)).status).toBe(409);
    simulator.advance(6000);
    expect((await acquire(simulator)).status).toBe(200);
  });
});
