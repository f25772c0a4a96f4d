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
import { Chooser } from "./chooser.ts";
import { type HookId, hookIds, type JobId, jobIds } from "./job-pool.ts";
import { deaths, deathsAtWork, lateStep, scene } from "./scenes.ts";
import { changeJob, type Memory, makeHook, makeJob } from "./shapes.ts";

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
  disturb_plans: 2,
  lose_node: 0.5,
  return_node: 1,
};

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

/** A run of the process that ends well, or some deaths. */
function passage(pick: Chooser): Action[] {
  if (pick.chance(0.3)) return [{ do: "run", calls: 1_000, ms: pick.of([1_000, 5_000, 20_000, 90_000]) }];
  // Stops in the middle of whatever is under way, so that the next event meets calls that wait.
  if (pick.chance(0.2)) return [{ do: "run", calls: pick.calls(), ms: 2_000 }];
  if (pick.chance(0.12)) return [{ do: "until", call: pick.of(turningPoints), ms: 20_000 }];
  const storm = deaths(pick, 12, pick.of([0, 40]));
  return pick.chance(0.5) ? storm : [...storm, { do: "run", calls: 40, ms: 3_000 }];
}

/** The history of a seed. */
export function generateHistory(seed: number, length = 45): History {
  const pick = new Chooser(new SeededRandom(Math.imul(seed, 0x9e3779b1) + 17));
  const used = jobIds.slice(0, 1 + pick.below(pick.chance(0.3) ? 3 : 1.6));
  const memory: Memory = { jobs: new Map(), used };
  const first: FileChange[] = [
    ...used.map((file): FileChange => {
      const job = makeJob(pick);
      memory.jobs.set(file, job);
      return { file, job };
    }),
    ...hookIds.filter(() => pick.chance(0.8)).map((file): FileChange => ({ file, hook: { version: 0, fate: "ok" } })),
  ];
  const actions: Action[] = [{ do: "commit", changes: first }, ...passage(pick)];
  for (let n = 0; n < length; n++) {
    if (pick.chance(0.3)) actions.push(...deathsAtWork(pick, memory));
    else actions.push(...(pick.chance(0.23) ? scene(pick, memory) : [event(pick, memory)]), ...passage(pick));
  }
  if (pick.chance(0.25)) actions.push(...lateStep(pick, memory));
  return {
    seed,
    settings: {
      required: pick.chance(0.25) ? 2 : 1,
      mostStarts: pick.chance(0.15) ? 1 : 0,
      minPolicy: pick.chance(0.1) ? "approval" : undefined,
      concurrency: pick.chance(0.5) ? 1 : 4,
      replanMs: pick.chance(0.3) ? 120_000 : 0,
    },
    actions: actions.map((action, salt) => ({ ...action, salt })),
  };
}

/** Calls at which a history may stop, so that what happens next falls right before them. */
const turningPoints = ["register", "dispatch", "move", "create", "recordApplied", "updateHookRun", "approve", "plan", "jobFacts"];

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
