/** A row of operator §10.1, shown by a job of its own. */
import type { EventJson } from "../../api/contract.ts";
import type { DoorWorld } from "./door-world.ts";

export interface TransitionRow {
  /** In the row's own words. */
  readonly name: string;
  /** The first commit has the files of all rows. */
  readonly files: Readonly<Record<string, string>>;
  /** Before the first commit: what is to stop where. */
  prepare?(world: DoorWorld): void;
  run(world: DoorWorld): Promise<unknown>;
}

/** What the store wrote of one move: exactly one event, by whom, and why. */
export async function theMove(world: DoorWorld, id: string, from: string | null, to: string): Promise<EventJson> {
  const { events } = await world.nops.get<{ events: readonly EventJson[] }>(`/api/v1/deployments/${id}`);
  const moves = events.filter((event) => event.from === from && event.to === to);
  const [move] = moves;
  if (move === undefined || moves.length > 1)
    throw new Error(`${moves.length} moves from ${from} to ${to}: ${events.map((e) => `${e.from}>${e.to}`).join(" ")}`);
  return move;
}

/** Waits for the move itself, whatever becomes of the deployment or of the job after it. */
export async function moveOf(world: DoorWorld, job: string, from: string | null, to: string): Promise<EventJson> {
  const isIt = (event: EventJson): boolean => event.from === from && event.to === to;
  const { events } = await world.nops.until<{ events: EventJson[] }>(`/api/v1/events?job=${job}`, (page) =>
    page.events.some(isIt),
  );
  return theMove(world, events.find(isIt)?.deployment_id ?? "", from, to);
}

/** Told to receivers, once. */
export async function told(world: DoorWorld, job: string, kind: string): Promise<void> {
  await world.nops.until("/api/v1/status", () => world.notified(job).includes(kind));
  const times = world.notified(job).filter((each) => each === kind).length;
  if (times !== 1) throw new Error(`${job}: ${times} notifications of ${kind}`);
}
