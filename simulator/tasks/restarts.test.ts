import { describe, expect, it } from "vitest";
import { RestartTracker } from "./restarts.ts";

const policy = { Attempts: 2, Interval: 60e9, Delay: 15e9, Mode: "fail", RenderTemplates: false };

describe("RestartTracker", () => {
  it("restarts so many times, each after its delay, and then fails", () => {
    const tracker = new RestartTracker(policy, false, 0, () => 0);
    expect(tracker.exited(false, 1000)).toMatchObject({ restart: true, delay: 15_000, reason: "Restart within policy" });
    expect(tracker.exited(false, 17_000).restart).toBe(true);
    expect(tracker.exited(false, 33_000)).toEqual({
      restart: false,
      delay: 0,
      reason: 'Exceeded allowed attempts 2 in interval 1m0s and mode is "fail"',
      done: false,
    });
  });

  it("counts anew in a new interval", () => {
    const tracker = new RestartTracker(policy, false, 0, () => 0);
    tracker.exited(false, 1);
    tracker.exited(false, 2);
    expect(tracker.exited(false, 60_001).restart).toBe(true);
  });

  it("waits for the end of the interval in mode delay", () => {
    const tracker = new RestartTracker({ ...policy, Attempts: 1, Mode: "delay" }, false, 0, () => 0);
    tracker.exited(false, 1000);
    expect(tracker.exited(false, 20_000)).toMatchObject({ restart: true, delay: 40_000 });
  });

  it("adds up to a quarter of the delay by chance", () => {
    expect(new RestartTracker(policy, false, 0, () => 1).exited(false, 1).delay).toBe(18_750);
  });

  it("leaves a batch task that succeeded alone, but not a service", () => {
    expect(new RestartTracker(policy, false, 0, () => 0).exited(true, 1)).toMatchObject({ restart: false, done: true });
    expect(new RestartTracker(policy, true, 0, () => 0).exited(true, 1)).toMatchObject({ restart: true, done: false });
  });

  it("never restarts without attempts", () => {
    const none = new RestartTracker({ ...policy, Attempts: 0 }, true, 0, () => 0);
    expect(none.exited(false, 1)).toMatchObject({ restart: false, reason: "Policy allows no restarts", done: false });
  });
});
