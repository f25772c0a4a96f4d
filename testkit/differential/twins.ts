import { Agent, request } from "node:http";
import { systemClock } from "../../cmd/system-clock.ts";
import { type NodeOptions, newNode } from "../../simulator/operations/node-facts.ts";
import { evaluateNode, isUnresponsive, putNode, setNodeStatus } from "../../simulator/operations/nodes.ts";
import { seededRandom, uuid } from "../../simulator/random.ts";
import { createSimulator, type Simulator } from "../../simulator/server.ts";
import type { ClientUpdate } from "../../simulator/state/alloc-writes.ts";
import type { Node } from "../../simulator/state/cluster-types.ts";
import { rfc3339 } from "../../simulator/state/facts.ts";
import { type Packable, packedTime } from "./message-pack.ts";
import { NomadRpc } from "./nomad-rpc.ts";
import { type RealServer, startRealServer } from "./real-server.ts";

export interface Exchange {
  readonly method: "GET" | "PUT" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
}

export interface Answer {
  /** 0: the server hung up, as it does when a handler of it panics. */
  readonly status: number;
  readonly type: string;
  readonly index: string | undefined;
  readonly body: string;
}

/** What both servers answered. */
export interface Pair {
  readonly real: Answer;
  readonly simulated: Answer;
}

/** What a client says of an allocation. */
export interface AllocationReport {
  readonly ID: string;
  readonly NodeID: string;
  readonly status: "running" | "failed" | "complete";
  readonly healthy?: boolean;
  /** How often its task was started anew by its client. */
  readonly restarts?: number;
}

interface AllocStub {
  readonly ID: string;
  readonly NodeID: string;
  readonly Namespace: string;
  readonly JobID: string;
  readonly ClientStatus: string;
}

const settleMs = 30_000;

/** Evaluations that wait for a time are not looked at before it. */
function isDue({ WaitUntil }: { readonly WaitUntil?: string | null }): boolean {
  return (
    WaitUntil === undefined || WaitUntil === null || WaitUntil.startsWith("0001-") || Date.parse(WaitUntil) <= systemClock.now()
  );
}

const version = "2.0.6-dev";

/** A real server and a simulated one with the same nodes, whose clients are silent: allocations fare as the test reports. */
export class Twins {
  readonly simulator: Simulator;
  readonly #server: RealServer;
  readonly #rpc: NomadRpc;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  readonly #random = seededRandom(7);
  readonly #nodes = new Map<string, Node>();
  readonly #token: string | undefined;

  private constructor(server: RealServer, rpc: NomadRpc, acl: string | undefined) {
    this.#server = server;
    this.#rpc = rpc;
    this.#token = acl;
    this.simulator = createSimulator({ clock: systemClock, nodes: [], acl: acl !== undefined });
  }

  /** With `acl` both have ACLs on and the same management token, whose secret it is. */
  static async start(binary: string, acl?: string): Promise<Twins> {
    const server = await startRealServer(binary, acl !== undefined);
    const twins = new Twins(server, await NomadRpc.open(server.rpcPort), acl);
    if (acl !== undefined) await twins.ask({ method: "PUT", path: "/v1/acl/bootstrap", body: { BootstrapSecret: acl } });
    return twins;
  }

  /** Where the real server listens. */
  get address(): string {
    return this.#server.address;
  }

  async stop(): Promise<void> {
    this.#rpc.close();
    this.#agent.destroy();
    await Promise.all([this.#server.stop(), this.simulator.close()]);
  }

  /** A node on both; its client does nothing by itself. Returns its id. */
  async addNode(options: NodeOptions = {}): Promise<string> {
    const tools = { newId: () => uuid(this.#random), now: () => systemClock.now() };
    const node = newNode(tools, options, version);
    await this.#rpc.call("Node.Register", { Region: "global", Node: packableNode(node) });
    const answer = await this.askReal({ method: "GET", path: `/v1/node/${node.ID}` });
    const known = { ...node, ComputedClass: (JSON.parse(answer.body) as Node).ComputedClass };
    this.#nodes.set(node.ID, known);
    this.simulator.clients.setSilent(node.ID, true);
    putNode(this.simulator.operations, known, "NodeRegister");
    evaluateNode(this.simulator.operations, known, "node-update");
    return node.ID;
  }

  async ask(exchange: Exchange): Promise<Pair> {
    const [real, simulated] = await Promise.all([this.askReal(exchange), this.askSimulated(exchange)]);
    return { real, simulated };
  }

  /** Waits until neither has an evaluation that still has to be processed. */
  async settled(): Promise<void> {
    const query: Exchange = {
      method: "GET",
      path: `/v1/evaluations?namespace=*&filter=${encodeURIComponent('Status == "pending"')}`,
    };
    for (const ask of [() => this.askReal(query), () => this.askSimulated(query)]) {
      const end = systemClock.now() + settleMs;
      for (;;) {
        const { body } = await ask();
        const waiting = (JSON.parse(body) as { readonly WaitUntil?: string | null }[]).filter(isDue);
        if (waiting.length === 0) break;
        if (systemClock.now() > end) throw new Error(`evaluations are still pending after ${settleMs} ms: ${body.slice(0, 500)}`);
        await systemClock.sleep(2);
      }
    }
  }

  /** What the clients of silent nodes say of allocations, which have other ids on each server. */
  async report(real: readonly AllocationReport[], simulated: readonly AllocationReport[]): Promise<void> {
    const now = systemClock.now();
    const { clients, state } = this.simulator;
    // Each client speaks for itself, and one after the other: what servers hear together they may take as one.
    for (const nodeId of new Set([...real, ...simulated].map(({ NodeID }) => NodeID))) {
      const AuthToken = this.#nodes.get(nodeId)?.SecretID ?? "";
      const Alloc = real.filter(({ NodeID }) => NodeID === nodeId).map((report) => packableReport(report, now));
      const request = { Region: "global", AuthToken, Alloc };
      if (Alloc.length > 0) await this.#rpc.call("Node.UpdateAlloc", request).catch(ignoreUnresponsive);
      const heard = simulated.filter(
        ({ NodeID }) => NodeID === nodeId && !isUnresponsive(state.nodes.get(NodeID)?.Status ?? "down"),
      );
      if (heard.length > 0) clients.deliver(heard.map((report) => clientUpdate(report, now)));
    }
  }

  /** Also of a node that was collected as garbage, which stays gone. */
  async setNodeStatus(nodeId: string, status: "ready" | "down" | "disconnected"): Promise<void> {
    const AuthToken = this.#nodes.get(nodeId)?.SecretID ?? "";
    const now = Math.floor(systemClock.now() / 1000);
    const request = { Region: "global", AuthToken, NodeID: nodeId, Status: status, UpdatedAt: now };
    await this.#rpc.call("Node.UpdateStatus", request).catch(ignoreGone);
    setNodeStatus(this.simulator.operations, nodeId, status);
  }

  /** Says on both that every allocation that runs, or is to stop, is over; of these nodes, or of all. */
  async finishAll(nodes?: readonly string[]): Promise<void> {
    const open = (list: readonly AllocStub[]) =>
      list
        .filter(
          ({ NodeID, ClientStatus }) =>
            (nodes?.includes(NodeID) ?? true) && ["pending", "running", "unknown"].includes(ClientStatus),
        )
        .map(({ ID, NodeID }): AllocationReport => ({ ID, NodeID, status: "complete" }));
    const { body } = await this.askReal({ method: "GET", path: "/v1/allocations?namespace=*" });
    await this.report(open(JSON.parse(body) as AllocStub[]), open([...this.simulator.state.allocs.rows.values()]));
    if (nodes === undefined) await this.settled();
  }

  askReal(exchange: Exchange): Promise<Answer> {
    return askOver(this.#agent, this.#server.address, exchange, this.#headers());
  }

  #headers(): Record<string, string> {
    return this.#token === undefined ? {} : { "x-nomad-token": this.#token };
  }

  async askSimulated({ method, path, body }: Exchange): Promise<Answer> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await this.simulator.request({ method, path, headers: this.#headers(), ...text });
    return {
      status: answer.status,
      type: answer.headers["content-type"] ?? "",
      index: answer.headers["x-nomad-index"],
      body: answer.body,
    };
  }
}

function askOver(
  agent: Agent,
  address: string,
  { method, path, body }: Exchange,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${address}${path}`, { method, agent, headers }, (incoming) => {
      const parts: Buffer[] = [];
      incoming.on("data", (part: Buffer) => parts.push(part));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const { "content-type": type = "", "x-nomad-index": index } = incoming.headers;
        const text = Buffer.concat(parts).toString("utf8");
        resolve({ status: incoming.statusCode ?? 0, type, index: index === undefined ? undefined : String(index), body: text });
      });
    });
    outgoing.on("error", (error) => {
      const hungUp = (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (hungUp) resolve({ status: 0, type: "", index: undefined, body: "" });
      else reject(error);
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A node as its client would register it, without what carries times. */
function packableNode(node: Node): Packable {
  const { Events: _, HostNetworks: __, CSIControllerPlugins: ___, CSINodePlugins: ____, ...rest } = node;
  const Drivers = Object.fromEntries(
    Object.entries(node.Drivers).map(([name, { UpdateTime: _time, ...info }]) => [name, info] as const),
  );
  return { ...rest, Drivers, DrainStrategy: null, LastDrain: null } as unknown as Packable;
}

function packableReport({ ID, NodeID, status, healthy, restarts = 0 }: AllocationReport, now: number): Packable {
  const over = status !== "running";
  const state = {
    State: over ? "dead" : "running",
    Failed: status === "failed",
    Restarts: restarts,
    ...(restarts > 0 ? { LastRestart: packedTime(now) } : {}),
    StartedAt: packedTime(now),
    ...(over ? { FinishedAt: packedTime(now) } : {}),
  };
  const health = healthy === undefined ? {} : { DeploymentStatus: { Healthy: healthy, Timestamp: packedTime(now) } };
  return { ID, NodeID, ClientStatus: status, TaskStates: { t: state }, ...health };
}

function clientUpdate({ ID, status, healthy, restarts = 0 }: AllocationReport, now: number): ClientUpdate {
  const over = status !== "running";
  const time = rfc3339(now);
  const state = {
    State: over ? "dead" : "running",
    Failed: status === "failed",
    Restarts: restarts,
    LastRestart: restarts > 0 ? time : null,
    StartedAt: time,
    FinishedAt: over ? time : null,
    Paused: "",
    Events: [],
  };
  const health = healthy === undefined ? undefined : { healthy, timestamp: time };
  return { id: ID, clientStatus: status, clientDescription: "", taskStates: { t: state }, health };
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof Error && /node not found|Permission denied/.test(error.message))) throw error;
}

/** Nodes that are down may say nothing. */
function ignoreUnresponsive(error: unknown): void {
  if (!(error instanceof Error && error.message.includes("is not allowed to update allocs"))) throw error;
}
