/**
 * One history as it runs: the whole operator over the real store in memory and the simulated Nomad, with every call through the gate. The
 * driver alone decides what happens next, so the same history is always the same run.
 */
import { createOperator } from "../../controllers/manager.ts";
import type { Operator, OperatorDeps } from "../../controllers/operator.ts";
import type { OperatorSettings } from "../../controllers/settings.ts";
import { NomadError, NopsError } from "../../model/errors.ts";
import { jobKey } from "../../model/job-key.ts";
import type { Log } from "../../model/log.ts";
import type { PlanResult } from "../../model/nomad.ts";
import { Redactor } from "../../model/redact.ts";
import { VirtualClock } from "../../simulator/clock.ts";
import { createSimulator, type Simulator } from "../../simulator/server.ts";
import { scoped } from "../../simulator/state/table.ts";
import { openStore, type Store } from "../../store/open.ts";
import { SeededRandom } from "../../testkit/fake-clock.ts";
import type { Faults, History } from "./actions.ts";
import { Catalogue } from "./catalogue.ts";
import { differs } from "./differs.ts";
import { Gate, type PendingCall } from "./gate.ts";
import { MemoryGit } from "./git-port.ts";
import { behaviour } from "./job-pool.ts";
import { LifeClock } from "./life-clock.ts";
import { NomadChecks } from "./nomad-checks.ts";
import { SimulatedNomad } from "./nomad-port.ts";
import { applyTimeoutMs, operatorSettings } from "./operator-settings.ts";
import { gatedGit, gatedNomad, gatedStore, isWrite, nomadWrites } from "./ports.ts";
import { Shadow } from "./shadow.ts";
import { StoreChecks } from "./store-checks.ts";
import { Violation } from "./violation.ts";
import { SimulatedWatch } from "./watch-port.ts";
import { brief, stackOf, watchfulLog } from "./words.ts";

/** Longest delay of a late effect or a slow answer, ms. Shorter than the search for a lost dispatch (design D9). */
const longestDelayMs = 20_000;

/** A build that is broken on purpose: what it does to the ports of each process, or to the database that a history begins with. */
export interface Breakage {
  readonly ports?: (deps: OperatorDeps, world: World) => OperatorDeps;
  readonly database?: (contents: Uint8Array) => Uint8Array;
  /** Stands between a person and the operator. */
  readonly operator?: (operator: Operator, world: World) => Operator;
  /** Gives the bytes that a process opens anew. */
  readonly reopen?: (contents: Uint8Array, world: World) => Uint8Array;
}

export interface Counters {
  /** Calls that the driver let happen. */
  calls: number;
  /** Deaths at a call, before or after its effect. */
  crashes: number;
  /** The same by the call. */
  readonly deaths: Map<string, number>;
  lives: number;
}

let pristine: Uint8Array | undefined;

/** An empty database with its schema, made once. */
function emptyDatabase(): Uint8Array {
  if (pristine !== undefined) return pristine;
  const store = openStore({ path: ":memory:", clock: new VirtualClock(), random: new SeededRandom(1) });
  pristine = store.serialize();
  return pristine;
}

export class World {
  readonly clock = new VirtualClock();
  readonly gate = new Gate();
  readonly git = new MemoryGit();
  readonly catalogue = new Catalogue();
  readonly shadow = new Shadow();
  /** The chance of the driver; each action begins its own. */
  random: SeededRandom;
  readonly sim: Simulator;
  readonly nomad: SimulatedNomad;
  readonly watch: SimulatedWatch;
  readonly counters: Counters = { calls: 0, crashes: 0, deaths: new Map(), lives: 0 };
  readonly settings: OperatorSettings;
  readonly required: number;
  store: Store;
  operator: Operator;
  faults: Faults | undefined;
  /** Lines for people, only when asked for. */
  readonly trace: string[] | undefined;
  /** A number that two runs share only when they were the same, call by call. */
  digest = 0x811c9dc5;
  /** What broken builds keep beside the database. */
  readonly plans = new Map<string, PlanResult>();
  readonly firstContents: Uint8Array;
  private life: LifeClock;
  private readonly breakage: Breakage;
  private readonly storeChecks: StoreChecks;
  private readonly nomadChecks: NomadChecks;
  private readonly ports: Pick<OperatorDeps, "nomad" | "store" | "git">;
  private failure: Violation | undefined;
  private lastEpoch = 0;
  /** Whether this process is led through one piece of work after another, or does all of them at the same time. */
  private follows = false;
  private readonly seed: number;
  private readonly idle: Log;

  constructor(history: History, options: { readonly breakage?: Breakage; readonly trace?: string[] } = {}) {
    const { seed, settings } = history;
    this.breakage = options.breakage ?? {};
    this.trace = options.trace;
    this.seed = Math.imul(seed, 0x85ebca6b) + 99;
    this.random = new SeededRandom(this.seed);
    this.required = settings.required;
    this.settings = operatorSettings(settings);
    this.sim = createSimulator({ clock: this.clock, seed: seed + 1, nodes: 2, behaviour });
    this.nomad = new SimulatedNomad(this.sim);
    this.watch = new SimulatedWatch(this.sim, this.nomad, this.gate, new SeededRandom(seed + 2));
    this.firstContents = this.breakage.database?.(emptyDatabase()) ?? emptyDatabase();
    this.store = this.open(this.firstContents);
    this.nomadChecks = new NomadChecks(this.sim, this.shadow, this.catalogue);
    this.storeChecks = new StoreChecks({
      store: () => this.store,
      shadow: this.shadow,
      clock: this.clock,
      catalogue: this.catalogue,
      applyTimeoutMs,
      required: this.required,
      liveIndex: (namespace, jobId) => this.sim.state.jobs.get(scoped(namespace, jobId))?.JobModifyIndex ?? 0,
      differs: (row) => differs(row, this.store, this.nomad),
      wasPlanned: (key, index) => this.nomadChecks.wasPlanned(key, index),
      differedSince: (key, time) => this.nomadChecks.differedSince(key, time),
    });
    this.ports = {
      nomad: gatedNomad(this.gate, this.nomad),
      store: gatedStore(this.gate, () => this.store),
      git: gatedGit(this.gate, this.git),
    };
    this.idle = watchfulLog((what) => this.fail(new Violation("X", what)));
    this.life = new LifeClock(this.clock);
    this.operator = this.create();
  }

  /** Chance begins anew, as the action wants it. */
  reseed(salt: number): void {
    this.random = new SeededRandom(this.seed ^ Math.imul(salt + 1, 0x9e3779b1));
  }

  /** Notes a violation that was found outside of the driver's own steps; the next step throws it. */
  fail(violation: Violation): void {
    this.failure ??= violation;
  }

  note(line: string): void {
    this.trace?.push(`${((this.clock.now() - Date.UTC(2030, 0, 1)) / 1_000).toFixed(3).padStart(9)}  ${line}`);
  }

  /** Starts a process over what the last one left. */
  start(): void {
    this.counters.lives += 1;
    this.follows = this.random.next() < 0.5;
    this.operator = this.create();
    this.operator.start().catch((error: unknown) => this.unexpected("start", error));
  }

  /** The process is gone at this instant, with all that it had not stored. */
  die(): void {
    this.gate.drop();
    this.watch.drop();
    this.life.die();
    this.nomadChecks.reborn();
  }

  /** Ends the process as SIGTERM does. */
  async stop(): Promise<void> {
    let over = false;
    this.operator.stop(1_000).then(
      () => {
        over = true;
      },
      (error: unknown) => this.unexpected("stop", error),
    );
    this.watch.letGo();
    for (let round = 0; round < 50 && !over; round++) await this.run(100, 1_000);
    this.die();
  }

  /** Opens the database anew from its bytes, as a new process on the same disk does. */
  reopen(): void {
    const contents = this.store.serialize();
    void this.store.close();
    this.store = this.open(this.breakage.reopen?.(contents, this) ?? contents);
  }

  /**
   * Lets at most `calls` calls happen, and at most `ms` pass while none is waiting. Ends early when `until` holds before a call.
   * @returns how many calls happened. @throws Violation
   */
  async run(calls: number, ms: number, until?: () => boolean): Promise<number> {
    const end = this.clock.now() + ms;
    let done = 0;
    for (;;) {
      await this.settle();
      if (this.gate.size > 0) {
        if (done >= calls || until?.() === true) return done;
        done += 1;
        await this.step();
      } else if (!this.passTime(end)) return done;
    }
  }

  /**
   * Lets calls happen as `run` does; with the next one the process dies, or with the first write if it shall be `atWrite`. Without one it
   * dies idle, which counts for nothing.
   */
  async crash(calls: number, ms: number, when: "before" | "after", atWrite = false): Promise<void> {
    if (atWrite) this.follows = true;
    await this.run(calls, ms, atWrite ? () => this.gate.hasSuch(isWrite) : undefined);
    const call = (atWrite ? this.gate.takeSuch(isWrite) : undefined) ?? this.gate.take(this.random, this.follows);
    if (call !== undefined) {
      this.note(`-- dies ${when} ${call.port}.${call.name}`);
      this.mark(when === "before" ? "b" : "a");
      if (when === "after") await this.perform(call, false).catch((error: unknown) => this.rethrow(error));
      this.counters.crashes += 1;
      const place = `${call.port}.${call.name}`;
      this.counters.deaths.set(place, (this.counters.deaths.get(place) ?? 0) + 1);
    }
    this.die();
    if (this.failure !== undefined) throw this.failure;
  }

  /** Time passes for everybody but nops, which is down. */
  pass(ms: number): void {
    this.clock.advance(ms);
  }

  /** Nothing may be seen that the driver did not do: errors of a pass that nobody foresaw. */
  unexpected(what: string, error: unknown): void {
    if (error instanceof Violation) this.fail(error);
    else if (!(error instanceof NopsError)) this.fail(new Violation("X", `${what}: ${stackOf(error)}`));
  }

  private create(): Operator {
    this.life = new LifeClock(this.clock);
    const deps: OperatorDeps = {
      nomad: this.ports.nomad,
      store: this.ports.store,
      git: this.ports.git,
      watch: this.watch.port(this.life),
      clock: this.life,
      random: new SeededRandom(this.counters.lives + 5),
      log: this.idle,
      redactor: new Redactor(),
      settings: this.settings,
    };
    const operator = createOperator(this.breakage.ports?.(deps, this) ?? deps);
    return this.breakage.operator?.(operator, this) ?? operator;
  }

  private open(contents: Uint8Array): Store {
    const random = new SeededRandom(this.seed + this.lastEpoch);
    const store = openStore({ path: ":memory:", clock: this.clock, random, contents });
    if (store.epoch() <= this.lastEpoch)
      throw new Violation("I16", `the database was opened with epoch ${store.epoch()} after ${this.lastEpoch}`);
    this.lastEpoch = store.epoch();
    return store;
  }

  /**
   * Lets the operator think until all that it waits for is a call or a timer: a tick comes when no promise is left that could go on, and
   * costs a fifth of a turn of the event loop. Nothing in a history waits for the loop itself.
   */
  private async settle(): Promise<void> {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (this.failure !== undefined) throw this.failure;
  }

  /** Moves to the next timer, unless it lies beyond `end`. */
  private passTime(end: number): boolean {
    for (;;) {
      const next = this.clock.untilNext();
      const now = this.clock.now();
      if (next === undefined || now + next > end) {
        this.clock.advance(Math.max(0, end - now));
        return false;
      }
      this.clock.advance(next);
      if (this.gate.size > 0 || this.life.takeFired()) return true;
    }
  }

  private async step(): Promise<void> {
    const call = this.gate.take(this.random, this.follows);
    if (call === undefined) return;
    this.counters.calls += 1;
    const fault = this.faultFor(call);
    this.mark(`${call.name}${fault ?? ""}`);
    if (fault === undefined) {
      await this.answer(call, 0);
      return;
    }
    this.note(`${call.port}.${call.name}: ${fault}`);
    await this.suffer(call, fault);
  }

  private faultFor(call: PendingCall): string | undefined {
    const { faults } = this;
    if (faults === undefined || call.port === "store" || call.port === "watch" || this.random.next() >= faults.rate)
      return undefined;
    const kind = faults.kinds[Math.floor(this.random.next() * faults.kinds.length)] ?? "overloaded";
    const loses = kind === "lost_request" || kind === "lost_answer" || kind === "late";
    return loses && !nomadWrites.has(call.name) ? "overloaded" : kind;
  }

  private async suffer(call: PendingCall, kind: string): Promise<void> {
    if (call.port === "git" && kind !== "slow") {
      call.reject(new NopsError("the repository cannot be reached", { code: "git_unreachable" }));
      return;
    }
    switch (kind) {
      case "slow":
        await this.answer(call, 1 + Math.floor(this.random.next() * longestDelayMs));
        return;
      case "lost_answer":
        await this.perform(call, false).catch((error: unknown) => this.rethrow(error));
        break;
      case "late":
        this.clock.setTimer(1 + Math.floor(this.random.next() * longestDelayMs), () => this.performLate(call));
        break;
    }
    const lost = kind === "lost_answer" || kind === "late" || kind === "lost_request";
    const meaning = lost ? "unknown_outcome" : (kind as "not_sent" | "overloaded" | "not_permitted");
    call.reject(new NomadError(`cannot ${call.name}: ${kind}`, { kind: meaning }));
  }

  /** Does the call and gives its answer, at once or after a while. */
  private async answer(call: PendingCall, afterMs: number): Promise<void> {
    const { life } = this;
    let give: () => void;
    try {
      const value = await this.perform(call, false);
      if (this.trace !== undefined) this.note(`${call.port}.${call.name}(${brief(call.args)}) = ${brief([value])}`);
      give = () => call.resolve(value);
    } catch (error) {
      this.rethrow(error);
      if (this.trace !== undefined) this.note(`${call.port}.${call.name}(${brief(call.args)}) ! ${String(error)}`);
      this.mark("!");
      give = () => call.reject(error);
    }
    if (afterMs === 0) give();
    else life.setTimer(afterMs, give);
  }

  private async perform(call: PendingCall, late: boolean): Promise<unknown> {
    if (call.port === "nomad") return this.nomadChecks.around(call, late);
    if (call.port !== "store") return call.effect();
    let value: unknown;
    try {
      value = await call.effect();
    } catch (error) {
      await this.storeChecks.after(call, undefined);
      throw error;
    }
    await this.storeChecks.after(call, value ?? null);
    return value;
  }

  private performLate(call: PendingCall): void {
    this.note(`${call.port}.${call.name}: its late effect`);
    try {
      this.nomadChecks.around(call, true);
    } catch (error) {
      if (error instanceof Violation) this.fail(error);
    }
  }

  /** A violation ends the history, whatever the operator would make of the error. */
  private rethrow(error: unknown): void {
    if (error instanceof Violation) throw error;
    if (!(error instanceof NopsError)) throw new Violation("X", stackOf(error));
  }

  private mark(text: string): void {
    let hash = this.digest ^ this.clock.now();
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    this.digest = hash;
  }
}

/** The key of one of the history's jobs. */
export function keyFor(job: string) {
  return jobKey("default", job);
}
