import { expect, it } from "vitest";
import { silentLog } from "../../model/log.ts";
import { FakeClock } from "../../testkit/fake-clock.ts";
import { loadConfig } from "../config/load.ts";
import { startRetention } from "./retention.ts";

const base = "repositories:\n  - name: main\n    url: /srv/jobs\n";

function run(text: string) {
  const clock = new FakeClock();
  const calls: unknown[] = [];
  const config = loadConfig({ file: { name: "nops.yml", text: base + text }, environment: {}, flags: {} });
  const sweeps: number[] = [];
  const store = {
    pruneSessions: () => {
      sweeps.push(clock.now());
      return Promise.resolve(0);
    },
    prune: (policy: unknown) => {
      calls.push(policy);
      return Promise.resolve({ deployments: 0, events: 0, notifications: 0 });
    },
  };
  return { clock, calls, sweeps, stop: startRetention(config, store, clock, silentLog) };
}

it("by default removes sessions that ended, every hour, and nothing else", async () => {
  const { clock, calls, sweeps, stop } = run("");
  await clock.advance(48 * 3_600_000);
  expect(calls).toEqual([]);
  expect(sweeps).toHaveLength(49);
  stop();
  expect(clock.pending).toBe(0);
});

it("removes at once and every hour, by days, until it is stopped", async () => {
  const { clock, calls, stop } = run("retention: { deployments: 30, events: 90 }\n");
  await clock.advance(2 * 3_600_000);
  expect(calls).toHaveLength(3);
  expect(calls[0]).toEqual({ deploymentsMs: 30 * 86_400_000, eventsMs: 90 * 86_400_000 });
  stop();
  expect(clock.pending).toBe(0);
});
