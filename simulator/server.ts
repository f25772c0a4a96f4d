import type { Clock, Random, Timer } from "../model/clock.ts";
import { Authenticator } from "./acl/authenticator.ts";
import type { IdentityOptions } from "./acl/identity.ts";
import { TimerSet, VirtualClock } from "./clock.ts";
import { groupUpdateKind } from "./diff/update-kind.ts";
import { EventBroker } from "./events/broker.ts";
import { Faults } from "./faults.ts";
import { BlockingQueries } from "./http/blocking.ts";
import { callOf, exchange } from "./http/exchange.ts";
import { type Listening, listen } from "./http/listen.ts";
import type { ApiRequest, ApiResponse } from "./http/message.ts";
import type { Service } from "./http/service.ts";
import { openStream } from "./http/stream.ts";
import type { ApiJob } from "./jobspec/types.ts";
import { rememberAdmissions } from "./operations/admission-cache.ts";
import { admitContext, type JobRules, type Operations } from "./operations/context.ts";
import { collectGarbage, type GcThresholds, keepTidy } from "./operations/gc.ts";
import { type NodeOptions, newNode } from "./operations/node-facts.ts";
import { Drainer, evaluateNode, putNode, setNodeStatus } from "./operations/nodes.ts";
import { Periodic } from "./operations/periodic.ts";
import { type PlanAnswer, planJob } from "./operations/plan.ts";
import { type Registered, type RegisterOptions, register } from "./operations/register.ts";
import { seededRandom, uuid } from "./random.ts";
import { jobRules } from "./rules.ts";
import { DeploymentWatcher } from "./scheduler/deployment-watcher.ts";
import { Engine } from "./scheduler/engine.ts";
import { LoadIndex } from "./scheduler/load-index.ts";
import { setUp } from "./setup.ts";
import { hasExpired, lostAfter } from "./state/silence.ts";
import { type Snapshot, State } from "./state/state.ts";
import type { Allocation, Job } from "./state/types.ts";
import type { BehaviourHook } from "./tasks/behaviour.ts";
import { Clients } from "./tasks/client.ts";
import { LockTimers } from "./variables/locks.ts";

export interface SimulatorOptions {
  /** Default: a virtual clock that only `advance` moves. */
  readonly clock?: Clock;
  /** The same seed gives the same ids, jitter and faults. */
  readonly seed?: number;
  /** Nodes of the cluster, or how many plain ones; default one. */
  readonly nodes?: number | readonly NodeOptions[];
  /** ACLs on, to be bootstrapped as a real server's. */
  readonly acl?: boolean;
  /** Lets faults be switched over HTTP, below `/v1/simulator/`. */
  readonly control?: boolean;
  readonly version?: string;
  readonly region?: string;
  /** How tasks behave, where their configuration is not to decide. */
  readonly behaviour?: BehaviourHook;
  /** Replaces the job rules, for tests of the living half alone. */
  readonly rules?: JobRules;
}

export interface PlainRequest {
  readonly method: string;
  /** Path, with or without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, or a value that is sent as JSON. */
  readonly body?: string | object;
  readonly signal?: AbortSignal;
}

const never = new AbortController().signal;

/** Milliseconds between the heartbeats of a node that is not yet believed to be ready. */
const heartbeatMs = 1000;

/** A Nomad in process: one server, its region and its nodes. No network, process or file is touched by what it runs. */
export class Simulator {
  readonly state: State;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly clients: Clients;
  readonly #virtual: VirtualClock | undefined;
  readonly #timers: TimerSet;
  readonly #service: Service;
  readonly #random: Random;
  readonly #authenticator: Authenticator;
  readonly #servers = new Set<Listening>();
  #tidy: Timer | undefined;

  constructor(options: SimulatorOptions = {}) {
    this.#virtual = options.clock === undefined ? new VirtualClock() : undefined;
    this.clock = options.clock ?? this.#virtual ?? new VirtualClock();
    this.#timers = new TimerSet(this.clock);
    this.#random = seededRandom(options.seed ?? 1);
    this.state = new State();
    this.faults = new Faults(seededRandom((options.seed ?? 1) + 1), this.#timers);
    const newId = () => uuid(this.#random);
    const now = () => this.clock.now();
    this.#authenticator = new Authenticator(this.state, options.acl ?? false, now);
    const rules = rememberAdmissions(options.rules ?? jobRules, this.state);
    const broker = new EventBroker(this.state);
    broker.filter = () => !this.faults.swallowsEvent();
    const loads = new LoadIndex(this.state);
    const engine = new Engine({ state: this.state, loads, now, newId }, this.#timers, (a, b, group) =>
      groupUpdateKind(a, b, group),
    );
    const operations: Operations = {
      state: this.state,
      engine,
      clock: this.#timers,
      random: this.#random,
      rules,
      region: options.region ?? "global",
      now,
      newId,
      specChanged: (old, next) => rules.specChanged(old, next),
    };
    new DeploymentWatcher(operations, this.#timers);
    this.clients = new Clients(this.state, this.#timers, this.#random, newId);
    this.clients.hook = options.behaviour;
    this.#service = {
      ...operations,
      clients: this.clients,
      broker,
      periodic: new Periodic(operations),
      drainer: new Drainer(operations),
      blocking: new BlockingQueries(this.state, this.#timers, this.#random, operations.region),
      faults: this.faults,
      locks: new LockTimers(this.state, this.#timers),
      version: options.version ?? "2.0.6-dev",
      datacenter: "dc1",
      acls: options.acl ?? false,
      authenticator: this.#authenticator,
      signingKeyId: newId(),
      control: options.control ?? false,
      setNodeSilent: (id, silent) => (silent ? this.loseNode(id) : this.returnNode(id)),
    };
    setUp(this.#service, options.nodes ?? 1);
    if (this.#virtual !== undefined) this.#tidy = keepTidy(this.#service);
  }

  /** Serves the API on 127.0.0.1; port 0 or none takes a free one. */
  async listen(port = 0): Promise<Listening> {
    const server = await listen(this.#service, (request) => this.#authenticator.access(request.headers), port);
    this.#servers.add(server);
    this.#tidy ??= keepTidy(this.#service);
    return {
      address: server.address,
      close: async () => {
        this.#servers.delete(server);
        if (this.#servers.size === 0 && this.#virtual === undefined) this.#endTidying();
        await server.close();
      },
    };
  }

  /** On a real clock garbage is collected only while somebody can reach the server, so that nothing keeps a process alive. */
  #endTidying(): void {
    this.#tidy?.cancel();
    this.#tidy = undefined;
  }

  /** One exchange without a socket, through the same routes. Rejects with ConnectionCut where a fault cuts the connection. */
  request(plain: PlainRequest): Promise<ApiResponse> {
    return exchange(this.#service, this.#requestOf(plain), (request) => this.#authenticator.access(request.headers));
  }

  /** Opens an event stream without a socket; lines come as they would over one. Throws Refusal (400) for a bad query. */
  stream(
    plain: Omit<PlainRequest, "method" | "body">,
    onLine: (line: string) => void,
    onEnd: () => void = () => {},
  ): { close(): void } {
    const call = callOf(
      this.#requestOf({ ...plain, method: "GET" }),
      (request) => this.#authenticator.access(request.headers),
      this.#service.region,
    );
    const sink = {
      write: (line: string) => {
        onLine(line);
        return true;
      },
      end: onEnd,
    };
    const subscription = openStream(this.#service, call, sink);
    return { close: () => subscription.cancel() };
  }

  #requestOf(plain: PlainRequest): ApiRequest {
    const [path = "", search = ""] = plain.path.split("?");
    const query = new URLSearchParams(search);
    for (const [name, value] of Object.entries(plain.query ?? {})) query.set(name, value);
    const headers = Object.fromEntries(Object.entries(plain.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
    return {
      method: plain.method,
      path: decodeURIComponent(path),
      query,
      headers,
      body: plain.body,
      signal: plain.signal ?? never,
    };
  }

  /** The cluster's own operations, for callers that need no HTTP. */
  get operations(): Operations {
    return this.#service;
  }

  /** The API form of a job, as a register would store it. Throws AdmissionError. */
  admit(job: ApiJob, namespace?: string): { readonly job: Job; readonly warnings: string } {
    const { job: server, warnings } = this.#service.rules.admit(job, admitContext(this.#service, namespace, undefined));
    return { job: server as unknown as Job, warnings };
  }

  /** The answer of plan, without HTTP. Throws AdmissionError. */
  plan(job: ApiJob, namespace?: string): PlanAnswer {
    const admitted = this.admit(job, namespace);
    return planJob(this.#service, admitted.job, true, admitted.warnings);
  }

  /** Registers without HTTP. Throws AdmissionError or Refusal. */
  register(job: ApiJob, options: RegisterOptions & { readonly namespace?: string } = {}): Registered {
    return register(this.#service, this.admit(job, options.namespace).job, options);
  }

  /** The JWT with which one task of an allocation would speak to Nomad. Throws when there is no such allocation. */
  workloadIdentity(allocId: string, task: string, options: IdentityOptions = {}): string {
    const alloc = this.state.allocs.get(allocId);
    if (alloc === undefined) throw new Error(`there is no allocation ${allocId}`);
    return this.#authenticator.identities.issue(alloc, task, this.clock.now(), options);
  }

  /** Lets time pass. Throws when the simulator follows a clock of its own. */
  advance(ms: number): void {
    if (this.#virtual === undefined) throw new Error("this simulator follows a clock that it cannot move");
    this.#virtual.advance(ms);
  }

  /** Adds a node and returns its id. */
  addNode(options: NodeOptions = {}): string {
    const node = newNode(this.#service, options, this.#service.version);
    putNode(this.#service, node, "NodeRegister");
    evaluateNode(this.#service, this.state.nodes.get(node.ID) ?? node, "node-update");
    return node.ID;
  }

  /** A node falls silent: after its heartbeat is missed its allocations are lost, or unknown where the job says so. */
  loseNode(id: string): void {
    this.clients.setSilent(id, true);
    const waits = (alloc: Allocation) =>
      alloc.DesiredStatus === "run" && lostAfter(alloc) > 0 && !hasExpired(alloc, this.clock.now());
    const keeps = this.state.nodes.get(id)?.Status === "ready" && this.state.allocs.by("node", id).some(waits);
    setNodeStatus(this.#service, id, keeps ? "disconnected" : "down");
  }

  /** The node is back: its client tells how its allocations fared, and says that it is ready until the server believes it. */
  returnNode(id: string): void {
    this.clients.setSilent(id, false);
    this.#beat(id);
  }

  #beat(id: string): void {
    setNodeStatus(this.#service, id, "ready");
    const waits = () => this.state.nodes.get(id)?.Status === "initializing";
    if (waits()) this.#timers.setTimer(heartbeatMs, () => waits() && this.#beat(id));
  }

  /** Collects garbage: all that is over, or what is older than the thresholds. */
  collectGarbage(thresholds?: GcThresholds): void {
    collectGarbage(this.#service, thresholds);
  }

  snapshot(): Snapshot {
    return this.state.snapshot();
  }

  restore(snapshot: Snapshot): void {
    this.state.restore(snapshot);
  }

  /** Stops listening, ends open queries and leaves no timer behind. */
  async close(): Promise<void> {
    this.#service.blocking.close();
    this.#service.broker.closeAll("server is shutting down");
    await Promise.all([...this.#servers].map((server) => server.close()));
    this.#timers.close();
  }
}

/** A new simulated cluster. */
export function createSimulator(options: SimulatorOptions = {}): Simulator {
  return new Simulator(options);
}
