/**
 * Death before and after every call of store, Nomad and git, in scenarios that together walk every state. After the restart: each job registered
 * exactly as often as without the crash, no hook twice, and the deployment ends.
 */
import { describe, expect, it } from "vitest";
import { isTerminal } from "../model/lifecycle.ts";
import type { JobSpec } from "../model/nomad.ts";
import { type CrashPoint, Mortal } from "../testkit/crash.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { ann } from "../testkit/fakes/started-world.ts";
import { key, service, World } from "../testkit/fakes/world.ts";
import { memoryStore } from "../testkit/memory-store.ts";

interface Scenario {
  readonly name: string;
  readonly files: Readonly<Record<string, JobSpec>>;
  /** What people do once there is something to decide; repeated until it took effect, as people do. */
  readonly people?: (world: World) => Promise<void>;
  /** What is live before git is read. */
  readonly before?: (world: World) => void;
  /** Hooks that may end with an unknown outcome, which fails the deployment instead of running twice. */
  readonly hooks: number;
}

const hook = (id: string): JobSpec => ({
  ID: id,
  Type: "batch",
  Meta: { nops_role: "hook" },
  ParameterizedJob: {},
  TaskGroups: [{ Name: "main", Tasks: [{ Name: "main" }] }],
});
const hooks = { "a.hcl": hook("backup"), "b.hcl": hook("migrate"), "c.hcl": hook("smoke") };
const hooked = { nops_pre_hook: "backup,migrate", nops_post_hook: "smoke" };

async function approveWhatWaits(world: World): Promise<void> {
  const latest = await world.latest("web");
  if (latest?.state === "pending_approval") await world.operator.approve(latest.id, latest.specHash, undefined, ann);
}

const scenarios: readonly Scenario[] = [
  { name: "auto, a new job", files: { "web.hcl": service("web") }, hooks: 0 },
  {
    name: "auto, a changed job",
    files: { "web.hcl": service("web", { image: "web:2" }) },
    before: (world) => world.nomad.edit(key("web"), () => ({ ...service("web"), Namespace: "default" })),
    hooks: 0,
  },
  { name: "auto with hooks", files: { "web.hcl": service("web", { meta: hooked }), ...hooks }, hooks: 3 },
  {
    name: "approval",
    files: { "web.hcl": service("web", { meta: { nops_policy: "approval" } }) },
    people: approveWhatWaits,
    hooks: 0,
  },
];

interface Outcome {
  readonly registers: number;
  readonly dispatched: readonly number[];
  readonly states: readonly string[];
  readonly calls: readonly string[];
  readonly died: boolean;
}

async function play(scenario: Scenario, points: readonly CrashPoint[]): Promise<Outcome> {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  let mortal = new Mortal(points[0]);
  const world = new World({ store, clock, ports: (deps) => mortal.wrap(deps) });
  const calls: string[] = [];
  let died = false;
  scenario.before?.(world);
  world.git.commit("main", scenario.files);
  for (let life = 0; ; life++) {
    await world.operator.start().catch(() => undefined);
    for (let second = 0; second < 100 && !mortal.isDead; second += 2) {
      await clock.advance(2_000);
      await scenario.people?.(world).catch(() => undefined);
      const latest = mortal.isDead ? undefined : await world.latest("web");
      if (latest !== undefined && isTerminal(latest.state)) break;
    }
    calls.push(...mortal.calls);
    died ||= mortal.isDead;
    if (!mortal.isDead) break;
    mortal = new Mortal(points[life + 1]);
    world.restart({}, (deps) => mortal.wrap(deps));
  }
  await clock.advance(2_000);
  mortal.kill();
  const children = [...world.nomad.jobs.values()].filter((job) => job.parentId !== "");
  const perHook = ["backup", "migrate", "smoke"].map((id) => children.filter((job) => job.parentId.startsWith(`${id}-`)).length);
  const versions = (world.nomad.jobs.get(key("web"))?.version ?? -1) + 1 - (scenario.before === undefined ? 0 : 1);
  const states = (await store.listDeployments({ limit: 10 })).items.map((deployment) => deployment.state);
  await store.close();
  return { registers: versions, dispatched: perHook, states, calls, died };
}

function judge(outcome: Outcome, scenario: Scenario, where: string): void {
  const story = `${where}: ${JSON.stringify({ ...outcome, calls: outcome.calls.length })}`;
  expect(Math.max(0, ...outcome.dispatched), story).toBeLessThanOrEqual(1);
  expect(outcome.states.length, story).toBe(1);
  const [state] = outcome.states;
  if (state === "completed") {
    expect(outcome.registers, story).toBe(1);
    if (scenario.hooks > 0) expect(outcome.dispatched, story).toEqual([1, 1, 1]);
    return;
  }
  // Only a hook whose dispatch may or may not have happened may end it otherwise.
  expect(state, story).toBe("failed");
  expect(scenario.hooks, story).toBeGreaterThan(0);
  expect(where, story).toMatch(/nomad\.dispatch|store\.updateHookRun/);
}

const writes = /create|move|save|record|refresh|mark|drop|ensure|update|approve|register|dispatch|stop|promote|accept/;

function isRead(call: string): boolean {
  return !writes.test(call);
}

describe.each(scenarios)("$name", (scenario) => {
  it("survives death at every call, before and after its effect", async () => {
    const whole = await play(scenario, []);
    expect(whole).toMatchObject({ states: ["completed"], registers: 1, died: false });
    expect(whole.calls.length).toBeGreaterThan(15);
    for (let call = 1; call <= whole.calls.length; call++) {
      const name = whole.calls[call - 1] ?? "";
      // A read has no effect that dying before or after it could tell apart.
      for (const when of isRead(name) ? (["after"] as const) : (["before", "after"] as const)) {
        const outcome = await play(scenario, [{ call, when }]);
        expect(outcome.died).toBe(true);
        judge(outcome, scenario, `${when} call ${call}, ${whole.calls[call - 1]}`);
      }
    }
  }, 120_000);
});

it("survives two deaths in a row, at random places", async () => {
  const random = new SeededRandom(11);
  const pick = (limit: number): CrashPoint => ({
    call: 1 + Math.floor(random.next() * limit),
    when: random.next() < 0.5 ? "before" : "after",
  });
  for (const scenario of scenarios) {
    const { calls } = await play(scenario, []);
    for (let round = 0; round < 10; round++) {
      const points = [pick(calls.length), pick(calls.length)];
      const outcome = await play(scenario, points);
      const places = points.map((point) => `${point.when} ${point.call}`).join(", ");
      expect(Math.max(0, ...outcome.dispatched), places).toBeLessThanOrEqual(1);
      expect(outcome.registers, places).toBeLessThanOrEqual(1);
      expect(
        outcome.states.every((state) => state === "completed" || (state === "failed" && scenario.hooks > 0)),
        `${scenario.name} ${places} ${outcome.states}`,
      ).toBe(true);
    }
  }
}, 120_000);
