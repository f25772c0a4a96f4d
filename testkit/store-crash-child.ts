/**
 * The process that `store/crash.test.ts` kills: works on the database of its first argument as fast as it can, for ever.
 * A line `ID VERSION STATE` leaves it only after the store said that the thing is done.
 */
import { writeSync } from "node:fs";
import { systemClock, systemRandom } from "../cmd/system-clock.ts";
import type { Deployment } from "../model/deployment.ts";
import { isTerminal, type Trigger, transition, triggers } from "../model/lifecycle.ts";
import { openStore } from "../store/open.ts";
import { aFrozenHook, aMove, aNewDeployment } from "./builders.ts";

const store = openStore({ path: process.argv[2] ?? "", clock: systemClock, random: systemRandom });

function promise({ id, version, state }: Deployment): void {
  writeSync(1, `${id} ${version} ${state}\n`);
}

async function live(deployment: Deployment): Promise<void> {
  const possible: Trigger[] = triggers.filter((trigger) => transition(deployment, trigger) !== undefined);
  const trigger = possible[Math.floor(systemRandom.next() * possible.length)];
  if (trigger === undefined) return;
  promise(await store.move(deployment.id, deployment.version, aMove({ trigger, reason: "healthy" })));
}

for (let round = 0; ; round++) {
  const active = await store.activeDeployments();
  for (const deployment of active) await live(deployment);
  const hooks = round % 2 === 0 ? [aFrozenHook(), aFrozenHook({ phase: "post" })] : [];
  const jobId = `job-${round % 5}`;
  if (active.some((deployment) => deployment.jobId === jobId && !isTerminal(deployment.state))) continue;
  const busy = (await store.activeDeployments()).some((deployment) => deployment.jobId === jobId);
  if (!busy) promise(await store.create(aNewDeployment({ jobId, hooks })));
}
