import { systemClock } from "../../cmd/system-clock.ts";
import type { Rec } from "../../simulator/jobspec/values.ts";
import type { Fate, LifeStep, NodeFate } from "./lives.ts";
import { difference, normalAnswer, normalValue } from "./normal.ts";
import type { AllocationReport, Answer, Exchange, Twins } from "./twins.ts";

/** Milliseconds in which both must come to the same view of a job. */
const patienceMs = 4_000;
/** Deployments are looked at by servers only so often. */
const deploymentMs = 320;

interface Alloc extends Rec {
  readonly ID: string;
  readonly NodeID: string;
}

type Side = "real" | "simulated";

/** Two nodes of a datacenter of their own on both servers, on which one job after another lives. */
export class Lane {
  readonly #twins: Twins;
  readonly datacenter: string;
  readonly #nodes: readonly [string, string];
  /** How many answers were compared. */
  compared = 0;
  /** For whoever wants to look at both servers where a difference was found, before the lane is tidied up. */
  onDifference: () => Promise<void> = async () => {};

  private constructor(twins: Twins, datacenter: string, nodes: readonly [string, string]) {
    this.#twins = twins;
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
    if (step.do === "report") await this.#report(name, step.at, step.fate);
    else if (step.do === "node") await this.#node(this.#nodes[step.node], step.fate);
    else {
      const [real, simulated] = await Promise.all([this.#answer("real", name, step), this.#answer("simulated", name, step)]);
      this.compared += 1;
      const what = difference(real && normalAnswer(real), simulated && normalAnswer(simulated));
      if (what !== undefined) return `answer to ${step.do} ${what}`;
    }
    if (step.do === "plan") return undefined;
    await systemClock.sleep(step.do === "register" ? 20 : deploymentMs);
    const end = systemClock.now() + patienceMs;
    for (;;) {
      const what = await this.#compare(name);
      if (what === undefined || systemClock.now() > end) return what;
      await systemClock.sleep(100);
    }
  }

  async #answer(side: Side, name: string, step: LifeStep): Promise<Answer | undefined> {
    const exchange = await this.#exchange(side, name, step);
    return exchange === undefined ? undefined : await this.#ask(side, exchange);
  }

  #ask(side: Side, exchange: Exchange): Promise<Answer> {
    return side === "real" ? this.#twins.askReal(exchange) : this.#twins.askSimulated(exchange);
  }

  async #read(side: Side, path: string): Promise<unknown> {
    const { status, body } = await this.#ask(side, { method: "GET", path });
    return status === 200 ? JSON.parse(body) : undefined;
  }

  async #exchange(side: Side, name: string, step: LifeStep): Promise<Exchange | undefined> {
    const put = (path: string, body?: unknown): Exchange => ({ method: "PUT", path, ...(body === undefined ? {} : { body }) });
    switch (step.do) {
      case "register":
        return put("/v1/jobs", { Job: step.job });
      case "plan":
        return put(`/v1/job/${name}/plan`, { Job: step.job, Diff: true });
      case "scale":
        return put(`/v1/job/${name}/scale`, { Count: step.count, Target: { Group: step.group } });
      case "stop":
        return { method: "DELETE", path: `/v1/job/${name}?purge=${step.purge}` };
      case "evaluate":
        return put(`/v1/job/${name}/evaluate`, { JobID: name, EvalOptions: { ForceReschedule: step.reschedule } });
      case "dispatch":
        return put(`/v1/job/${name}/dispatch`, { Meta: step.meta });
      case "revert": {
        const job = (await this.#read(side, `/v1/job/${name}`)) as { readonly Version: number } | undefined;
        return put(`/v1/job/${name}/revert`, { JobID: name, JobVersion: Math.max(0, (job?.Version ?? 0) - step.back) });
      }
      case "deployment":
        return await this.#deployment(side, name, step.action);
      case "stop-alloc": {
        const alloc = pick(await this.#allocs(side, name), step.at);
        return alloc && put(`/v1/allocation/${alloc.ID}/stop`);
      }
      default:
        return undefined;
    }
  }

  async #deployment(side: Side, name: string, action: "promote" | "fail" | "pause" | "resume"): Promise<Exchange | undefined> {
    const latest = (await this.#read(side, `/v1/job/${name}/deployment`)) as { readonly ID: string } | null | undefined;
    if (latest === null || latest === undefined) return undefined;
    const { ID: DeploymentID } = latest;
    const put = (verb: string, body: object): Exchange => ({
      method: "PUT",
      path: `/v1/deployment/${verb}/${DeploymentID}`,
      body: { DeploymentID, ...body },
    });
    if (action === "promote") return put("promote", { All: true });
    return action === "fail" ? put("fail", {}) : put("pause", { Pause: action === "pause" });
  }

  /** The allocations of a job in an order that both servers share. */
  async #allocs(side: Side, name: string): Promise<Alloc[]> {
    const rows = ((await this.#read(side, `/v1/job/${name}/allocations?all=true`)) ?? []) as Alloc[];
    const key = (alloc: Alloc) => JSON.stringify(normalValue(alloc, ""));
    return rows.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  async #report(name: string, places: readonly number[], fate: Fate): Promise<void> {
    const [real, simulated] = await Promise.all([this.#allocs("real", name), this.#allocs("simulated", name)]);
    await this.#twins.report(reports(real, places, fate), reports(simulated, places, fate));
  }

  async #node(id: string, fate: NodeFate): Promise<void> {
    if (fate === "down" || fate === "ready") return await this.#twins.setNodeStatus(id, fate);
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
    const paths = ["", "/summary", "/versions", "/deployments", "/allocations?all=true", "/evaluations", "/scale"];
    const found = await Promise.all(
      [...paths.map((path) => `/v1/job/${name}${path}`), ...this.#nodes.map((id) => `/v1/node/${id}`)].map(async (path) => {
        const pair = await this.#twins.ask({ method: "GET", path });
        const what = difference(view(pair.real), view(pair.simulated));
        return what === undefined ? undefined : `${path} ${what}`;
      }),
    );
    this.compared += found.length;
    return found.find((what) => what !== undefined);
  }

  async #tidy(name: string): Promise<void> {
    for (const id of this.#nodes) {
      await this.#node(id, "ready");
      await this.#node(id, "undrain");
      await this.#node(id, "eligible");
    }
    for (const side of ["real", "simulated"] as const) {
      const rows = ((await this.#read(side, `/v1/jobs?prefix=${encodeURIComponent(name)}`)) ?? []) as { readonly ID: string }[];
      for (const { ID } of rows)
        await this.#ask(side, { method: "DELETE", path: `/v1/job/${encodeURIComponent(ID)}?purge=true` });
    }
    await this.#twins.finishAll(this.#nodes);
  }
}

/** How often a deployment makes its job be looked at, and what waited meanwhile, depends on how fast one change follows another. */
function isSteady(row: unknown): boolean {
  const { TriggeredBy, Status } = row as Rec;
  return TriggeredBy !== "deployment-watcher" && !(TriggeredBy === "queued-allocs" && Status !== "blocked");
}

/** Which of the replacements of a group is placed first is left to chance; so allocations and the places of groups are told apart. */
function allocations(rows: readonly Rec[]): unknown {
  const texts = rows.map(({ NodeName: _, NodeID: __, Name: ___, ...row }) => JSON.stringify(row));
  const names = rows.filter((row) => row["DesiredStatus"] === "run").map((row) => String(row["Name"]));
  const places = rows.map((row) =>
    JSON.stringify([row["TaskGroup"], row["DesiredStatus"], row["ClientStatus"], row["NodeName"]]),
  );
  // On which node a system job is renewed first, and which of two groups finds its places first, is left to chance as well.
  const chance = rows.some((row) => row["JobType"] !== "service" && row["JobType"] !== "batch");
  const several = new Set(rows.map((row) => row["TaskGroup"])).size > 1;
  return {
    rows: texts.sort().map((text) => JSON.parse(text) as unknown),
    names: names.sort(),
    places: chance || several ? [] : places.sort(),
  };
}

/** What changes of a node in a life. */
const NODE_FIELDS = ["Status", "SchedulingEligibility", "DrainStrategy"];

function isNode(body: unknown): boolean {
  return typeof body === "object" && body !== null && "SchedulingEligibility" in body;
}

/** Lists stand in an order of ids, which no two servers share. */
function view(answer: Answer): unknown {
  const normal = normalAnswer(answer);
  if (isNode(normal.body)) return NODE_FIELDS.map((field) => (normal.body as Rec)[field]);
  if (!Array.isArray(normal.body) || normal.type !== "application/json") return normal;
  if (normal.body.some((row: unknown) => (row as Rec)["NodeName"] !== undefined)) return allocations(normal.body as Rec[]);
  const rows = normal.body.filter(isSteady).map((row: unknown) => [JSON.stringify(row), row] as const);
  return { ...normal, body: rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row) };
}

function pick<T>(list: readonly T[], at: number): T | undefined {
  return list.length === 0 ? undefined : list[at % list.length];
}

function reports(allocs: readonly Alloc[], places: readonly number[], fate: Fate): AllocationReport[] {
  const chosen = new Set(places.flatMap((at) => pick(allocs, at) ?? []));
  const fitting = [...chosen].filter((alloc) => (alloc["DesiredStatus"] === "stop") === (fate === "stopped"));
  return fitting
    .filter((alloc) => ["pending", "running", "unknown"].includes(String(alloc["ClientStatus"])))
    .map(({ ID, NodeID }) => ({ ID, NodeID, ...FATES[fate] }));
}

const FATES: Readonly<Record<Fate, Pick<AllocationReport, "status" | "healthy">>> = {
  running: { status: "running" },
  healthy: { status: "running", healthy: true },
  unhealthy: { status: "running", healthy: false },
  failed: { status: "failed" },
  complete: { status: "complete" },
  stopped: { status: "complete" },
};
