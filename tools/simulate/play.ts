import { NomadError } from "../../model/errors.ts";
import { isRunning, isTerminal } from "../../model/lifecycle.ts";
import type { ReasonCode } from "../../model/reasons.ts";
import { judgeDrift } from "../../plan/drift.ts";
import { hasScaling, substituteCounts } from "../../plan/scaling.ts";
import { type Action, describeAction, type Faults, type History } from "./actions.ts";
import { jobIds, parseText } from "./job-pool.ts";
import { applyTimeoutMs } from "./operator-settings.ts";
import { People } from "./people.ts";
import { Surroundings } from "./surroundings.ts";
import { contradiction } from "./verdicts.ts";
import { Violation } from "./violation.ts";
import { type Breakage, type Counters, keyFor, World } from "./world.ts";

/** Longest time within which everything must have come to rest once nothing fails any more, ms. */
const quietMs = 900_000;
/** What the end of a step may come late once nothing fails, ms. */
const graceMs = 20_000;

export interface Played {
  readonly violation: Violation | undefined;
  readonly counters: Counters;
  readonly digest: number;
  /** How often each move was made. */
  readonly reached: ReadonlyMap<string, number>;
  /** How far the history got. */
  readonly actions: number;
}

/** Plays a history to its end or to the first violation. Any other error is thrown: the tool itself is broken. */
export async function play(
  history: History,
  options: { readonly breakage?: Breakage; readonly trace?: string[] } = {},
): Promise<Played> {
  const world = new World(history, options);
  const player = new Player(world);
  let violation: Violation | undefined;
  let actions = 0;
  try {
    for (const action of history.actions) {
      if (action.do === "crash" && action.working === true && !world.shadow.working) {
        actions += 1;
        continue;
      }
      if (options.trace !== undefined) world.note(`== ${describeAction(action)}`);
      world.reseed(action.salt ?? actions);
      await player.act(action);
      actions += 1;
    }
    world.reseed(-2);
    await player.comeToRest();
    await player.checkEnd();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = error;
  } finally {
    world.die();
    void world.store.close();
  }
  return { violation, counters: world.counters, digest: world.digest, reached: world.shadow.reached, actions };
}

class Player {
  private readonly world: World;
  private readonly people: People;
  private readonly surroundings: Surroundings;
  private started = false;

  constructor(world: World) {
    this.world = world;
    this.people = new People(world);
    this.surroundings = new Surroundings(world);
  }

  async act(action: Action): Promise<void> {
    const { world } = this;
    switch (action.do) {
      case "commit":
        this.surroundings.commit(action.changes, this.started);
        if (!this.started) world.start();
        this.started = true;
        return;
      case "run":
        await world.run(action.calls, action.ms);
        return;
      case "until":
        await world.run(
          1_000,
          action.ms,
          action.working === true ? () => world.shadow.working && world.gate.has(action.call) : () => world.gate.has(action.call),
        );
        return;
      case "crash":
        // Time that does not pass does not end what is under way.
        await world.crash(action.calls, action.working === true ? 100 : 30_000, action.when, action.atWrite === true);
        if (action.downMs > 0) world.pass(action.downMs);
        world.start();
        return;
      case "restart":
        await world.stop();
        world.start();
        return;
      case "reopen":
        world.die();
        world.reopen();
        world.start();
        return;
      case "person":
        return this.people.act(action.act, action.job, action.who);
      case "world":
        this.surroundings.act(action.act, action.job, action.n);
        return;
      case "faults":
        this.turnFaults(action.faults);
    }
  }

  private turnFaults(faults: Faults | undefined): void {
    this.world.faults = faults;
    this.world.sim.faults.phantomDispatch = faults?.phantom ?? 0;
    this.world.watch.skip = faults?.skip ?? 0;
  }

  /** Nothing fails any more: every deployment has to end, or to wait for a person (I13), each step in its own time (I12). */
  async comeToRest(): Promise<void> {
    const { world } = this;
    if (!this.started) return;
    this.turnFaults(undefined);
    this.surroundings.mend();
    world.nomad.settlePlans();
    // Events that the stream swallowed are found by the next list.
    world.watch.breakAll();
    // A new process, since the old one may be waiting after an error that is over now.
    world.die();
    world.start();
    const quietSince = world.clock.now();
    world.note("== nothing fails any more");
    for (let passed = 0; passed < quietMs; passed += 15_000) {
      await world.run(20_000, 15_000);
      await this.checkDeadlines(quietSince);
      if (passed >= 180_000 && (await this.unfinished()).length === 0) return;
    }
    const [left] = await this.unfinished();
    if (left !== undefined)
      throw new Violation("I13", `deployment ${left.id} is still ${left.state}: ${left.reason ?? ""} ${left.error ?? ""}`);
  }

  private async unfinished() {
    const active = await this.world.store.activeDeployments();
    return active.filter(
      (each) =>
        !isTerminal(each.state) &&
        each.state !== "pending_approval" &&
        !(each.state === "applying" && each.promotionWaitSince !== undefined && each.promotedAt === undefined),
    );
  }

  private async checkDeadlines(quietSince: number): Promise<void> {
    const now = this.world.clock.now();
    for (const each of await this.unfinished()) {
      if (!isRunning(each.state) || each.state !== "applying") continue;
      const deadline = Date.parse(each.promotedAt ?? each.enteredAt) + applyTimeoutMs;
      if (now > Math.max(deadline, quietSince) + graceMs)
        throw new Violation(
          "I12",
          `deployment ${each.id} is applying since ${each.enteredAt}, now it is ${new Date(now).toISOString()}`,
        );
    }
  }

  /** What holds at the end of a history. */
  async checkEnd(): Promise<void> {
    const { world } = this;
    if (!this.started) return;
    const audit = await world.store.verifyAudit();
    if (!audit.ok) throw new Violation("I7", `the audit log: ${audit.problem}`);
    for (const { id, identity, specHash } of world.shadow.acknowledged) {
      const stored = await world.store.approvals(id);
      if (!stored.some((each) => each.identity === identity && each.specHash === specHash))
        throw new Violation("I14", `the approval of ${id} by ${identity} was acknowledged and is not stored`);
    }
    for (const [id, row] of world.shadow.rows) {
      const stored = await world.store.deployment(id);
      if (stored?.state !== row.state)
        throw new Violation("I7", `deployment ${id} is ${stored?.state}, it was left ${row.state}`);
    }
    for (const job of jobIds) await this.checkSettled(job);
  }

  /** A job that git declares is in sync, or a gate says why not. */
  private async checkSettled(job: (typeof jobIds)[number]): Promise<void> {
    const { world } = this;
    const text = world.git.text(`${job}.nomad.hcl`);
    const spec = text === undefined ? undefined : parseText(text);
    if (spec === undefined) return;
    let verdict: ReasonCode | "unknown" | undefined;
    let answered = false;
    world.operator.explain(keyFor(job)).then(
      (view) => {
        verdict = view.verdict;
        answered = true;
      },
      () => {
        verdict = "unknown";
        answered = true;
      },
    );
    for (let round = 0; round < 20 && !answered; round++) await world.run(50, 10);
    if (!answered) throw new Violation("I13", `nobody answers why ${job} stands as it does`);
    const target = { ...spec, Namespace: "default" };
    const planned = hasScaling(target) ? substituteCounts(target, world.nomad.readJob(keyFor(job))) : target;
    if (verdict === "nomad_error" && isRefused(() => world.nomad.plan(planned))) return;
    if (verdict === undefined || verdict === "unknown" || verdict === "nomad_error" || verdict === "not_compared")
      throw new Violation("I13", `${job} is at rest, and yet ${verdict ?? "nothing stands in its way"}`);
    if (verdict === "restored_database") throw new Violation("I13", `the database is taken for an older one, and ${job} waits`);
    const wrong = contradiction(verdict, keyFor(job), world.shadow);
    if (wrong !== undefined) throw new Violation("I13", `${job} is said to be at rest for ${verdict}, but ${wrong}`);
    if (verdict !== "in_sync") return;
    const { diff } = world.nomad.plan(planned);
    if (judgeDrift(diff, false) === "drift") throw new Violation("I13", `${job} is said to be in sync, but a plan differs`);
  }
}

/** What git says is nothing that Nomad takes: then nops waits for another commit. */
function isRefused(plan: () => unknown): boolean {
  try {
    plan();
    return false;
  } catch (error) {
    return error instanceof NomadError && error.kind === "refused";
  }
}
