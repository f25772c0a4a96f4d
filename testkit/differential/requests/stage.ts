import { systemClock } from "../../../cmd/system-clock.ts";
import { difference } from "../normal.ts";
import type { AllocationReport, Twins } from "../twins.ts";
import type { Request } from "./ask.ts";
import { Side } from "./side.ts";
import type { View } from "./view.ts";
import type { Step } from "./world.ts";

interface Alloc {
  readonly ID: string;
  readonly NodeID: string;
  readonly ClientStatus: string;
  readonly DesiredStatus: string;
}

/** In which a deployment whose allocations are healthy must be over. */
const patienceMs = 10_000;

/** Where the same happens to both servers, and both are asked the same. */
export class Stage {
  readonly twins: Twins;
  readonly real: Side;
  readonly simulated: Side;

  private constructor(twins: Twins, real: Side, simulated: Side) {
    this.twins = twins;
    this.real = real;
    this.simulated = simulated;
  }

  /** `token`: the management token of both, where ACLs are on. */
  static async open(twins: Twins, token?: string): Promise<Stage> {
    const { address } = await twins.simulator.listen();
    return new Stage(twins, new Side(twins.address, token), new Side(address, token));
  }

  /** Lets a step happen on both and come to rest. Returns how the answers to it differ, and the status of the real one. */
  async play(step: Step): Promise<{ readonly what: string | undefined; readonly status: number }> {
    const asked = "ask" in step ? await this.compare(step.ask) : undefined;
    if (!("ask" in step)) await this.#report(step);
    await this.twins.settled();
    await this.look();
    return { what: asked?.what, status: asked?.real.status ?? 200 };
  }

  async look(): Promise<void> {
    await Promise.all([this.real.book.look(), this.simulated.book.look()]);
  }

  async compare(request: Request): Promise<{ readonly what: string | undefined; readonly real: View }> {
    const [real, simulated] = await Promise.all([this.real.ask(request), this.simulated.ask(request)]);
    return { what: real.status === 0 ? undefined : difference(real, simulated), real };
  }

  async #report(step: Exclude<Step, { readonly ask: Request }>): Promise<void> {
    const [real, simulated] = await Promise.all([this.real, this.simulated].map((side) => reportsOf(side, step)));
    await this.twins.report(real ?? [], simulated ?? []);
    if (step.healthy === true) await Promise.all([this.real, this.simulated].map((side) => rolledOut(side, step)));
  }
}

/** Waits until the deployment of a job is over, which servers look at in their own time; one with canaries waits for a person. */
async function rolledOut(side: Side, { report }: Exclude<Step, { readonly ask: Request }>): Promise<void> {
  const end = systemClock.now() + patienceMs;
  for (;;) {
    const path = `/v1/job/${report.job}/deployment?namespace=${report.namespace}`;
    const found = JSON.parse((await side.raw({ method: "GET", path })).body) as { readonly Status: string } | null;
    if (found?.Status !== "running") return;
    if (systemClock.now() > end) throw new Error(`the deployment of ${report.job} does not end`);
    await systemClock.sleep(20);
  }
}

async function reportsOf(side: Side, step: Exclude<Step, { readonly ask: Request }>): Promise<AllocationReport[]> {
  const { namespace, job } = step.report;
  const { body } = await side.raw({ method: "GET", path: `/v1/job/${job}/allocations?namespace=${namespace}` });
  const open = (JSON.parse(body) as Alloc[]).filter(
    ({ ClientStatus, DesiredStatus }) => DesiredStatus === "run" && ["pending", "running"].includes(ClientStatus),
  );
  const { status, healthy } = step;
  return open.map(({ ID, NodeID }) => ({ ID, NodeID, status, ...(healthy === undefined ? {} : { healthy }) }));
}
