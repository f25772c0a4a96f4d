import { afterEach, expect } from "vitest";
import type { OperatorSettings } from "../../controllers/settings.ts";
import type { Actor, Deployment } from "../../model/deployment.ts";
import type { JobSpec } from "../../model/nomad.ts";
import type { Store } from "../../store/open.ts";
import { FakeClock } from "../fake-clock.ts";
import { memoryStore } from "../memory-store.ts";
import { World } from "./world.ts";

const opened: { readonly store: Store; readonly world: World }[] = [];

/** A running operator with an empty repository `main`, ended after the test; a timer left behind fails it. */
export async function startWorld(
  settings: Partial<OperatorSettings> = {},
  files: Readonly<Record<string, JobSpec | string>> = {},
): Promise<World> {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  const world = new World({ store, clock, settings });
  opened.push({ store, world });
  for (const { name } of settings.repositories ?? [{ name: "main" }]) world.git.commit(name, name === "main" ? files : {});
  await world.operator.start();
  await clock.advance(2_000);
  return world;
}

/** Ends the operator as SIGTERM does. */
export async function stopWorld(world: World): Promise<void> {
  const stopping = world.operator.stop(1_000);
  await world.clock.advance(1_000);
  await stopping;
}

export function endWorldsAfterEach(): void {
  afterEach(async () => {
    for (const { store, world } of opened.splice(0)) {
      await stopWorld(world);
      await store.close();
      expect(world.clock.pending).toBe(0);
    }
  });
}

export const ann: Actor = { name: "ann", kind: "person", identity: "oidc:x:ann", email: "ann@example.com" };
export const bob: Actor = { name: "bob", kind: "person", identity: "oidc:x:bob", email: "bob@example.com" };

/** The deployment; fails the test when there is none. */
export function present(deployment: Deployment | undefined): Deployment {
  if (deployment === undefined) throw new Error("there is no deployment");
  return deployment;
}
