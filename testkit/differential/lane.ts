import { systemClock } from "../../cmd/system-clock.ts";
import { chosen, requestOf } from "./life-requests.ts";
import { type Alloc, LifeSide, pathOf } from "./life-side.ts";
import type { Fate, LifeStep, NodeFate } from "./lives.ts";
import { difference, normalAnswer } from "./normal.ts";
import type { AllocationReport, Exchange, Twins } from "./twins.ts";

/** Milliseconds in which both must come to the same view of a job. */
const patienceMs = 4_000;
/** In which a server takes up what it was told. */
const promptMs = 120;
/** Servers gather for a second what they see of a deployment, and another quarter of all of them, before they push one on; so do drains. */
const gatheringMs = 1_400;
/** How far into a second a periodic job is launched, so that both servers name its child after the same one. */
const earlyMs = 50;

/** Two nodes of a datacenter of their own on both servers, on which one job after another lives. */
export class Lane {
  readonly #twins: Twins;
  readonly #real: LifeSide;
  readonly #simulated: LifeSide;
  readonly datacenter: string;
  readonly #nodes: readonly [string, string];
  /** How many answers were compared. */
  compared = 0;
  /** For whoever wants to look at both servers where a difference was found, before the lane is tidied up. */
  onDifference: () => Promise<void> = async () => {};

  private constructor(twins: Twins, datacenter: string, nodes: readonly [string, string]) {
    this.#twins = twins;
    this.#real = new LifeSide((exchange) => twins.askReal(exchange));
    this.#simulated = new LifeSide((exchange) => twins.askSimulated(exchange));
    this.datacenter = datacenter;
    this.#nodes = nodes;
  }

  /** Nodes of different sizes, so that which of them is the better place is never left to chance. */
  static async open(twins: Twins, datacenter: string): Promise<Lane> {
    const big = await twins.addNode({
      datacenter,
      name: `big-${datacenter}`,
      class: "big",
      cores: 8,
      cpu: 8_000,
      memoryMb: 8_000,
    });
    const small = await twins.addNode({
      datacenter,
      name: `small-${datacenter}`,
      class: "small",
      cores: 4,
      cpu: 3_000,
      memoryMb: 4_000,
    });
    return new Lane(twins, datacenter, [big, small]);
  }

  /** Lives through the steps on both servers. Returns the first difference and after how many steps it shows. */
  async live(name: string, steps: readonly LifeStep[]): Promise<{ readonly what: string; readonly after: number } | undefined> {
    try {
      for (const [i, step] of steps.entries()) {
        const what = await this.#step(name, step);
        if (what === undefined) continue;
        await this.onDifference();
        return { what, after: i + 1 };
      }
      return undefined;
    } finally {
      await this.#tidy(name);
    }
  }

  async #step(name: string, step: LifeStep): Promise<string | undefined> {
    const what = await this.#do(name, step);
    if (what !== undefined) return `answer to ${step.do} ${what}`;
    if (step.do === "plan") return undefined;
    // Steps follow each other at rest: what waits in one of the servers when the next thing happens would be told of both together.
    await systemClock.sleep((await this.#simulated.isGathering(name, this.#nodes)) ? gatheringMs : promptMs);
    const end = systemClock.now() + patienceMs;
    for (;;) {
      const differing = await this.#compare(name);
      if (differing === undefined || systemClock.now() > end) return differing;
      await systemClock.sleep(100);
    }
  }

  /** Returns in what the answers differ. */
  async #do(name: string, step: LifeStep): Promise<string | undefined> {
    if (step.do === "report") return await this.#report(name, step.at, step.fate);
    if (step.do === "node") return await this.#node(this.#nodes[step.node], step.fate);
    if (step.do === "wait") {
      await systemClock.sleep(step.ms);
      return undefined;
    }
    if (step.do === "force") await systemClock.sleep(1_000 - (systemClock.now() % 1_000) + earlyMs);
    const [real, simulated] = await Promise.all(
      [this.#real, this.#simulated].map(async (side) => {
        const exchange = await requestOf(side, name, step);
        return exchange && normalAnswer(await side.ask(exchange));
      }),
    );
    this.compared += 1;
    return difference(real, simulated);
  }

  async #report(name: string, places: readonly number[], fate: Fate): Promise<undefined> {
    const [real, simulated] = await Promise.all([this.#real.allocs(name), this.#simulated.allocs(name)]);
    await this.#twins.report(reports(real, places, fate), reports(simulated, places, fate));
  }

  async #node(id: string, fate: NodeFate): Promise<undefined> {
    if (fate === "down" || fate === "ready" || fate === "disconnected") {
      await this.#twins.setNodeStatus(id, fate);
      return;
    }
    const exchange: Exchange =
      fate === "drain" || fate === "undrain"
        ? {
            method: "PUT",
            path: `/v1/node/${id}/drain`,
            body: fate === "drain" ? { DrainSpec: { Deadline: 3600e9 } } : { DrainSpec: null, MarkEligible: true },
          }
        : { method: "PUT", path: `/v1/node/${id}/eligibility`, body: { Eligibility: fate } };
    await this.#twins.ask(exchange);
  }

  async #compare(name: string): Promise<string | undefined> {
    const [real, simulated] = await Promise.all([
      this.#real.picture(name, this.#nodes),
      this.#simulated.picture(name, this.#nodes),
    ]);
    this.compared += Object.keys(real).length;
    return difference(real, simulated);
  }

  async #tidy(name: string): Promise<void> {
    for (const id of this.#nodes) {
      await this.#node(id, "ready");
      await this.#node(id, "undrain");
      await this.#node(id, "eligible");
    }
    for (const side of [this.#real, this.#simulated]) {
      for (const id of [name, ...(await side.children(name))])
        await side.ask({ method: "DELETE", path: `${pathOf(id)}?purge=true` });
    }
    await this.#twins.finishAll(this.#nodes);
    // One that fell silent is ready only now that its client has told how its allocations fared.
    for (const id of this.#nodes) await this.#node(id, "ready");
  }
}

function reports(allocs: readonly Alloc[], places: readonly number[], fate: Fate): AllocationReport[] {
  return chosen(allocs, places)
    .filter((alloc) => (alloc["DesiredStatus"] === "stop") === (fate === "stopped"))
    .filter((alloc) => ["pending", "running", "unknown"].includes(String(alloc["ClientStatus"])))
    .map(({ ID, NodeID }) => ({ ID, NodeID, ...FATES[fate] }));
}

const FATES: Readonly<Record<Fate, Pick<AllocationReport, "status" | "healthy" | "restarts">>> = {
  running: { status: "running" },
  restarted: { status: "running", restarts: 2 },
  healthy: { status: "running", healthy: true },
  unhealthy: { status: "running", healthy: false },
  failed: { status: "failed" },
  complete: { status: "complete" },
  stopped: { status: "complete" },
};
