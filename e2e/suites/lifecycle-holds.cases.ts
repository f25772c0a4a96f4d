import { expect, it } from "vitest";
import { systemClock } from "../../cmd/system-clock.ts";
import { serviceJob } from "./job-text.ts";
import type { SuiteWorld } from "./suite-world.ts";

/** A daily window that opened an hour ago or opens in an hour, in UTC. */
function dailyWindow(offsetMs: number, duration: string): Readonly<Record<string, string>> {
  const at = new Date(systemClock.now() + offsetMs);
  return { nops_sync_window: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`, nops_sync_window_duration: duration };
}

const hourMs = 3_600_000;

/** A daily window that opens with the next minute that begins in no less than a quarter of one. */
function openingSoon(): { readonly meta: Readonly<Record<string, string>>; readonly opensAt: number } {
  const opensAt = Math.ceil((systemClock.now() + 15_000) / 60_000) * 60_000;
  return { meta: dailyWindow(opensAt - systemClock.now(), "30m"), opensAt };
}

/** A job whose window opens while the other cases run; call the result after them. */
export function windowOpensCase(world: () => SuiteWorld): { before(): void; after(): void } {
  let opensAt = 0;
  return {
    before: () =>
      it("a window that is about to open: held until then", async () => {
        const soon = openingSoon();
        opensAt = soon.opensAt;
        await world().commit({ "opening.hcl": serviceJob({ id: "opening", meta: soon.meta }) });
        const held = await world().untilJob("opening", (job) => job.sync === "held");
        expect(Date.parse(held.window?.changes_at ?? "")).toBe(opensAt);
        expect(held.last_deployment).toBeNull();
      }),
    after: () =>
      it("a window that opened let go what it held, by itself and not before", async () => {
        const { created_at } = await world().untilDeployment("opening", (row) => row.state === "completed");
        expect(Date.parse(created_at)).toBeGreaterThanOrEqual(opensAt);
        expect(Date.parse(created_at)).toBeLessThan(opensAt + 20_000);
      }),
  };
}

/** Holds: a pause, a closed window, Deploy now, dependencies. */
export function holdCases(world: () => SuiteWorld): void {
  it("pause: drift is shown, nothing starts, approvals are refused; resume plans again", async () => {
    await world().commit({ "held.hcl": serviceJob({ id: "held" }) });
    const first = await world().untilDeployment("held", (row) => row.state === "completed");
    await world().nops.post("/api/v1/jobs/default/held/pause", { reason: "freeze" });
    await world().commit({ "held.hcl": serviceJob({ id: "held", count: 2 }) });
    const paused = await world().untilJob("held", (job) => job.sync === "paused" && job.drift);
    expect(paused.last_deployment?.id).toBe(first.id);
    expect((await world().refusal("/api/v1/jobs/default/held/pause", { reason: "again" })).status).toBe(409);
    await world().nops.post("/api/v1/jobs/default/held/resume");
    await world().untilDeployment("held", (row) => row.id !== first.id && row.state === "completed");
  });

  it("pause of everything holds every job and blocks approvals", async () => {
    await world().nops.post("/api/v1/pause", { reason: "incident" });
    await world().commit({ "all.hcl": serviceJob({ id: "all" }) });
    expect(await world().untilJob("all", (job) => job.sync === "paused")).toMatchObject({
      reason: "paused_all",
      last_deployment: null,
    });
    await world().nops.post("/api/v1/resume");
    await world().untilDeployment("all", (row) => row.state === "completed");
  });

  it("closed window: held; Deploy now lifts it once; an open window lets go", async () => {
    await world().commit({ "windowed.hcl": serviceJob({ id: "windowed", meta: dailyWindow(hourMs, "10m") }) });
    const held = await world().untilJob("windowed", (job) => job.sync === "held");
    expect(held).toMatchObject({ hold: { kind: "window" }, window: { open: false } });
    expect(held.window?.changes_at).not.toBeNull();
    expect((await world().refusal("/api/v1/jobs/default/windowed/deploy-now", { spec_hash: "wrong" })).status).toBe(409);
    await world().nops.post("/api/v1/jobs/default/windowed/deploy-now", { spec_hash: held.spec_hash });
    const lifted = await world().untilDeployment("windowed", (row) => row.state === "completed");
    expect(lifted.window_lifted_by).not.toBeNull();
    await world().commit({ "windowed.hcl": serviceJob({ id: "windowed", count: 2, meta: dailyWindow(-hourMs, "3h") }) });
    await world().untilDeployment("windowed", (row) => row.id !== lifted.id && row.state === "completed");
  });

  it("dependencies: the second waits for the first, and is told when it failed", async () => {
    await world().commit({
      "base.hcl": serviceJob({ id: "base", fails: true }),
      "above.hcl": serviceJob({ id: "above", meta: { nops_depends_on: "base" } }),
    });
    await world().untilDeployment("base", (row) => row.state === "failed");
    expect(await world().untilJob("above", (job) => job.reason === "dependency_failed")).toMatchObject({ last_deployment: null });
    await world().commit({ "base.hcl": serviceJob({ id: "base" }) });
    await world().untilDeployment("above", (row) => row.state === "completed");
  });
}
