import type { Random } from "../../model/clock.ts";
import { SeededRandom } from "../../testkit/fake-clock.ts";
import {
  type Action,
  type FaultKind,
  type Faults,
  type FileChange,
  faultKinds,
  type History,
  type PersonAct,
  type WorldAct,
} from "./actions.ts";
import { type HookId, type HookShape, hookIds, type JobId, type JobShape, jobIds } from "./job-pool.ts";

/** Chooses by chance. */
class Chooser {
  private readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.random.next() * limit);
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }

  weighed<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return (entries[0] as [T, number])[0];
  }

  some<T>(items: readonly T[], probability: number): T[] {
    return items.filter(() => this.chance(probability));
  }

  /** Mostly few, sometimes many. */
  calls(): number {
    const most = this.weighed({ 4: 5, 12: 3, 40: 1 });
    return this.below(Number(most));
  }
}

const people: Readonly<Record<PersonAct, number>> = {
  look: 2,
  approve: 10,
  approve_seen: 4,
  reject: 2,
  pause: 2,
  resume: 3,
  pause_all: 1,
  resume_all: 2,
  deploy_now: 3,
  retry: 8,
  reschedule: 2,
  promote: 8,
  fail: 1,
  resolve_ran: 1,
  resolve_not: 1,
  accept: 2,
};

const events: Readonly<Record<WorldAct, number>> = {
  edit: 6,
  scale: 3,
  stop: 2,
  purge: 2,
  collect: 3,
  collect_children: 3,
  stop_child: 1,
  promote: 1,
  fail: 1,
  snapshot: 2,
  restore: 1,
  gap: 2,
  lose_node: 0.5,
  return_node: 1,
};

function makeJob(pick: Chooser): JobShape {
  const hooked = pick.chance(0.55);
  return {
    kind: pick.chance(0.9) ? "service" : "batch",
    image: pick.below(4),
    fate: pick.weighed({ ok: 8, crash: 2, nowhere: 0.6 }),
    policy: pick.weighed({ auto: 7, approval: 4, none: 0.7 }),
    pre: hooked ? pick.some(hookIds, 0.6) : [],
    post: hooked ? pick.some(hookIds, 0.4) : [],
    window: pick.weighed({ none: 8, closed: 1, often: 1, denied: 1 }),
    dependsOn: pick.chance(0.08) ? pick.of(jobIds) : undefined,
    canary: pick.chance(0.2),
    autoRevert: pick.chance(0.25),
    scaled: pick.chance(0.15),
    count: pick.chance(0.85) ? 1 : pick.below(3),
  };
}

/** Most changes move one thing of a job, so that an update meets what was there. */
function changeJob(before: JobShape, pick: Chooser): JobShape {
  const next = makeJob(pick);
  const name = pick.of(Object.keys(next) as (keyof JobShape)[]);
  return pick.chance(0.25) ? next : { ...before, image: (before.image + pick.below(3)) % 4, [name]: next[name] };
}

function makeHook(pick: Chooser): HookShape {
  return { version: pick.below(3), fate: pick.weighed({ ok: 7, fail: 2, long: 1 }) };
}

/** What the generator remembers of git. */
interface Memory {
  readonly jobs: Map<JobId, JobShape>;
  readonly used: readonly JobId[];
}

function commit(pick: Chooser, memory: Memory): Action {
  const kind = pick.weighed({ job: 12, hook: 3, broken: 1, gone: 1, twice: 0.7, many: 1, none: 0.7 });
  const id = pick.of(memory.used);
  const jobChange = (file: JobId): FileChange => {
    const before = memory.jobs.get(file);
    const job = before === undefined ? makeJob(pick) : changeJob(before, pick);
    memory.jobs.set(file, job);
    return { file, job };
  };
  switch (kind) {
    case "job":
      return { do: "commit", changes: [jobChange(id)] };
    case "hook":
      return { do: "commit", changes: [{ file: pick.of<HookId>(hookIds), hook: makeHook(pick) }] };
    case "broken":
      return { do: "commit", changes: [{ file: pick.chance(0.7) ? id : pick.of(hookIds), text: "broken" }] };
    case "gone":
      return { do: "commit", changes: pick.some(memory.used, 0.6).map((file): FileChange => ({ file, text: "gone" })) };
    case "twice":
      return { do: "commit", changes: [{ file: id, text: "twice" }] };
    case "many":
      return { do: "commit", changes: memory.used.map(jobChange) };
    case "none":
      return { do: "commit", changes: [] };
  }
}

function makeFaults(pick: Chooser): Faults {
  const kinds = pick.some<FaultKind>(faultKinds, 0.5);
  return {
    rate: pick.of([0.02, 0.1, 0.3]),
    kinds: kinds.length === 0 ? ["lost_answer"] : kinds,
    phantom: pick.of([0, 0.5, 1]),
    skip: pick.of([0, 0, 0.3]),
  };
}

/** A run of the process that ends well, or a storm of deaths. */
function passage(pick: Chooser): Action[] {
  if (pick.chance(0.3)) return [{ do: "run", calls: 1_000, ms: pick.of([1_000, 5_000, 20_000, 90_000]) }];
  // Stops in the middle of whatever is under way, so that the next event meets calls that wait.
  if (pick.chance(0.3)) return [{ do: "run", calls: pick.calls(), ms: 2_000 }];
  const deaths = 1 + pick.below(pick.chance(0.2) ? 24 : 9);
  const storm = Array.from({ length: deaths }, (): Action => {
    const downMs = pick.chance(0.06) ? pick.of([1_000, 45_000, 600_000]) : 0;
    return { do: "crash", calls: pick.calls(), when: pick.chance(0.5) ? "before" : "after", downMs };
  });
  return pick.chance(0.5) ? storm : [...storm, { do: "run", calls: 40, ms: 3_000 }];
}

/** The history of a seed. */
export function generateHistory(seed: number, length = 45): History {
  const pick = new Chooser(new SeededRandom(Math.imul(seed, 0x9e3779b1) + 17));
  const used = jobIds.slice(0, 1 + pick.below(pick.chance(0.3) ? 3 : 2));
  const memory: Memory = { jobs: new Map(), used };
  const first: FileChange[] = [
    ...used.map((file): FileChange => {
      const job = makeJob(pick);
      memory.jobs.set(file, job);
      return { file, job };
    }),
    ...hookIds.map((file): FileChange => ({ file, hook: { version: 0, fate: "ok" } })),
  ];
  const actions: Action[] = [{ do: "commit", changes: first }, ...passage(pick)];
  for (let n = 0; n < length; n++) {
    actions.push(event(pick, memory), ...passage(pick));
  }
  if (pick.chance(0.25)) actions.push(...lateStep(pick, memory));
  return {
    seed,
    settings: {
      required: pick.chance(0.15) ? 2 : 1,
      mostStarts: pick.chance(0.15) ? 1 : 0,
      minPolicy: pick.chance(0.1) ? "approval" : undefined,
      concurrency: pick.chance(0.5) ? 1 : 4,
      replanMs: pick.chance(0.3) ? 120_000 : 0,
    },
    actions,
  };
}

/** Ends a history in the middle of a wait that cannot succeed, so that its end has to come in time. */
function lateStep(pick: Chooser, memory: Memory): Action[] {
  const [file] = memory.used;
  if (file === undefined) return [];
  const plain = {
    pre: [],
    post: [],
    window: "none",
    dependsOn: undefined,
    canary: false,
    scaled: false,
    autoRevert: false,
  } as const;
  const job: JobShape = { kind: "service", image: 7 + pick.below(2), fate: "nowhere", policy: "auto", count: 1, ...plain };
  return [
    { do: "faults", faults: undefined },
    { do: "run", calls: 1_000, ms: 90_000 },
    { do: "commit", changes: [{ file, job }] },
    { do: "run", calls: 1_000, ms: 45_000 },
  ];
}

function event(pick: Chooser, memory: Memory): Action {
  const job = pick.of(memory.used);
  const kind = pick.weighed({ commit: 26, person: 40, world: 18, faults: 5, calm: 6, restart: 2, reopen: 0.7 });
  switch (kind) {
    case "commit":
      return commit(pick, memory);
    case "person":
      return { do: "person", act: pick.weighed(people), job, who: pick.chance(0.6) ? "ann" : "bob" };
    case "world":
      return { do: "world", act: pick.weighed(events), job, n: pick.below(5) };
    case "faults":
      return { do: "faults", faults: makeFaults(pick) };
    case "calm":
      return { do: "faults", faults: undefined };
    case "restart":
    case "reopen":
      return { do: kind };
  }
}
