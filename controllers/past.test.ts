/** Design D34: an older copy of the database comes up looking only, known by what Nomad says about deployments that it has not. */
import { afterEach, describe, expect, it } from "vitest";
import type { JobSpec } from "../model/nomad.ts";
import type { Store } from "../store/open.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { ann, stopWorld } from "../testkit/fakes/started-world.ts";
import { key, service, World } from "../testkit/fakes/world.ts";
import { memoryStore } from "../testkit/memory-store.ts";

const opened: { readonly world: World; readonly store: Store }[] = [];
afterEach(async () => {
  for (const { world, store } of opened.splice(0)) {
    await stopWorld(world);
    await store.close();
  }
});

const web = (image: string, meta: Record<string, string> = {}): JobSpec => service("web", { image, meta });
const hook: JobSpec = {
  ID: "migrate",
  Type: "batch",
  Meta: { nops_role: "hook" },
  ParameterizedJob: {},
  TaskGroups: [{ Name: "main", Tasks: [{ Name: "main" }] }],
};

interface Life {
  readonly world: World;
  readonly store: Store;
}

function life(clock: FakeClock, contents?: Uint8Array, before?: World): Life {
  const store = memoryStore({ clock, ...(contents === undefined ? {} : { contents }) });
  const world = new World({ store, clock, ...(before === undefined ? {} : { nomad: before.nomad, git: before.git }) });
  const opening = { world, store };
  opened.push(opening);
  return opening;
}

async function begin({ world }: Life, files: Readonly<Record<string, JobSpec | string>> = {}): Promise<void> {
  if (Object.keys(files).length > 0) world.git.commit("main", files);
  await world.operator.start();
  await world.clock.advance(5_000);
}

/** The life whose newest database is lost: a new one over an older copy. */
async function restoredOver(older: Uint8Array, { world }: Life): Promise<Life> {
  await stopWorld(world);
  const next = life(world.clock, older, world);
  await begin(next);
  return next;
}

/** Lets a deployment with a pre-hook come to its end. Gives what the database held just before the dispatch. */
async function copyBeforeDispatch(first: Life): Promise<Uint8Array> {
  let copy: Uint8Array | undefined;
  first.world.nomad.fault = (when, call) => {
    if (when === "before" && call.startsWith("dispatch")) copy ??= first.store.serialize();
  };
  await begin(first, { "web.hcl": web("web:1", { nops_pre_hook: "migrate" }), "h.hcl": hook });
  expect(await first.world.latest("web")).toMatchObject({ state: "completed" });
  // As Nomad's garbage collection does: with the run goes its token.
  for (const [id, job] of first.world.nomad.jobs) if (job.parentId !== "") first.world.nomad.jobs.delete(id);
  return copy ?? expect.fail("no hook was dispatched");
}

describe("a database that is older than what it did", () => {
  it("is known by a version of a job that it never made: nothing is done until a person accepts it", async () => {
    const first = life(new FakeClock());
    await begin(first, { "web.hcl": web("web:1"), "other.hcl": service("other") });
    const copy = first.store.serialize();
    await first.world.commit({ "web.hcl": web("web:2"), "other.hcl": service("other") });
    const lost = await first.world.latest("web");
    const { world, store } = await restoredOver(copy, first);
    expect((await world.operator.status()).mode).toBe("restored_database");
    expect((await store.restored())?.message).toContain(
      `job web in namespace default was registered as version 1 by deployment ${lost?.id}`,
    );
    const before = world.nomad.count("register", "dispatch", "stop");
    await world.commit({ "web.hcl": web("web:3"), "other.hcl": service("other", { image: "other:2" }) });
    expect(world.nomad.count("register", "dispatch", "stop")).toBe(before);
    expect(await world.operator.explain(key("other"))).toMatchObject({ verdict: "restored_database" });
  });

  it("is known when somebody edited the job after that version", async () => {
    const first = life(new FakeClock());
    await begin(first, { "web.hcl": web("web:1") });
    const copy = first.store.serialize();
    await first.world.commit({ "web.hcl": web("web:2") });
    await stopWorld(first.world);
    first.world.nomad.edit(key("web"), () => web("mine:1"));
    const { world } = await restoredOver(copy, first);
    expect((await world.operator.status()).mode).toBe("restored_database");
  });

  it("is known by a deployment that got further than it remembers, before its hook runs again", async () => {
    const first = life(new FakeClock());
    const { world } = await restoredOver(await copyBeforeDispatch(first), first);
    expect(await world.latest("web")).toMatchObject({ state: "pre_hook" });
    expect((await world.operator.status()).mode).toBe("restored_database");
    expect(world.nomad.count("dispatch")).toBe(1);
  });

  it("is used again once a person accepted it, over all later starts", async () => {
    const first = life(new FakeClock());
    const { world, store } = await restoredOver(await copyBeforeDispatch(first), first);
    expect(await store.acceptRestored(ann)).toBe(true);
    for (let start = 0; start < 2; start++) {
      await stopWorld(world);
      world.restart();
      await world.operator.start();
      await world.clock.advance(40_000);
      expect((await world.operator.status()).mode).toBe("normal");
    }
    // Whether the hook ran is what this copy cannot know, so it is not dispatched again even now (design D9).
    expect(await world.latest("web")).toMatchObject({ state: "failed", reason: "hook_unknown" });
    expect(world.nomad.count("dispatch")).toBe(1);
  });
});

describe("a database that only missed what others did", () => {
  it("goes on after a death between the register and its record", async () => {
    const first = life(new FakeClock());
    let dead = false;
    first.world.nomad.fault = (when, call) => {
      dead ||= when === "after" && call.startsWith("register");
      if (dead) throw new Error("the process is dead");
    };
    await begin(first, { "web.hcl": web("web:1") });
    await stopWorld(first.world);
    first.world.nomad.fault = () => {};
    first.world.restart();
    await begin(first);
    expect((await first.world.operator.status()).mode).toBe("normal");
    expect(await first.world.latest("web")).toMatchObject({ state: "completed" });
  });

  it("goes on after an outside edit, asking Nomad about that job and no other", async () => {
    const first = life(new FakeClock());
    await begin(first, { "web.hcl": web("web:1"), "other.hcl": service("other") });
    await stopWorld(first.world);
    first.world.nomad.edit(key("web"), () => web("mine:1"));
    first.world.nomad.calls.length = 0;
    first.world.restart();
    await begin(first);
    expect((await first.world.operator.status()).mode).toBe("normal");
    expect(first.world.nomad.calls.filter((call) => /^(versions|submission) /.test(call))).toEqual([
      "versions default/web",
      "submission default/web",
    ]);
    expect(first.world.nomad.live(key("web"))?.TaskGroups?.[0]?.Tasks?.[0]?.Config).toEqual({ image: "web:1" });
  });

  it("leaves nothing behind when it is stopped while it looks", async () => {
    const first = life(new FakeClock());
    await begin(first, { "web.hcl": web("web:1") });
    await stopWorld(first.world);
    first.world.nomad.edit(key("web"), () => web("mine:1"));
    let answer: (reason: Error) => void = () => {};
    const { jobVersions } = first.world.nomad;
    first.world.nomad.jobVersions = () => new Promise((_resolve, reject) => (answer = reject));
    first.world.restart();
    await begin(first);
    await stopWorld(first.world);
    answer(new Error("too late"));
    await first.world.clock.advance(500);
    expect(first.world.clock.pending).toBe(0);
    first.world.nomad.jobVersions = jobVersions;
  });

  it("waits until Nomad tells, and does nothing before", async () => {
    const first = life(new FakeClock());
    await begin(first, { "web.hcl": web("web:1") });
    await stopWorld(first.world);
    first.world.nomad.edit(key("web"), () => web("mine:1"));
    first.world.nomad.fault = (when, call) => {
      if (when === "before" && call.startsWith("versions")) throw new Error("Nomad is away");
    };
    first.world.restart();
    const registered = first.world.nomad.count("register");
    await begin(first);
    expect(first.world.nomad.count("register")).toBe(registered);
    expect((await first.world.operator.status()).notReady["namespace default"]).toContain("older copy is not known yet");
    first.world.nomad.fault = () => {};
    await first.world.clock.advance(5_000);
    expect(await first.world.operator.status()).toMatchObject({ mode: "normal", notReady: {} });
    expect(first.world.nomad.count("register")).toBe(registered + 1);
  });
});
