import type { Action, WorldAct } from "./actions.ts";
import type { Chooser } from "./chooser.ts";
import { hookIds, type JobId, type JobShape } from "./job-pool.ts";
import { type Memory, makeHook, makeJob } from "./shapes.ts";

const plain = {
  kind: "service",
  fate: "ok",
  policy: "auto",
  pre: [],
  post: [],
  window: "none",
  dependsOn: undefined,
  canary: false,
  autoRevert: false,
  scaled: false,
  count: 1,
} as const;

/** Something that chance alone would rarely bring about: several events that belong together. */
export function scene(pick: Chooser, memory: Memory): Action[] {
  const job = pick.of(memory.used);
  switch (pick.weighed({ meddle: 3, lost: 3, canary: 3, verify: 1.5, stale: 1.5, hold: 1.5, unstable: 1.5 })) {
    case "meddle":
      return meddle(pick, memory, job);
    case "lost":
      return lostDispatch(pick, memory, job);
    case "canary":
      return canary(pick, memory, job);
    case "verify":
      return failAfterRegister(pick, memory, job);
    case "stale":
      return staleApproval(pick, memory, job);
    case "hold":
      return holdAtTheStart(pick, memory, job);
    case "unstable":
      return unstablePlan(pick, memory, job);
  }
}

function commitOf(memory: Memory, file: JobId, job: JobShape): Action {
  memory.jobs.set(file, job);
  return { do: "commit", changes: [{ file, job }] };
}

/** Somebody else writes the job while nops is about to. */
function meddle(pick: Chooser, memory: Memory, job: JobId): Action[] {
  const shape: JobShape = { ...plain, image: pick.below(9), scaled: pick.chance(0.3) };
  const act = pick.weighed<WorldAct & ("edit" | "purge" | "scale" | "stop")>({ edit: 4, purge: 1, scale: 2, stop: 1 });
  return [
    commitOf(memory, job, shape),
    { do: "until", call: pick.of(["register", "register", "readJob", "plan", "recordApplied", "move"]), ms: 2_000 },
    { do: "world", act, job, n: pick.below(9) },
    { do: "run", calls: 60, ms: 5_000 },
  ];
}

/** Answers get lost while hooks run, and what they started may be gone when nops looks for it. */
function lostDispatch(pick: Chooser, memory: Memory, job: JobId): Action[] {
  const pre = pick.chance(0.7) ? hookIds : [];
  const shape: JobShape = { ...plain, image: pick.below(9), pre, post: pre.length === 0 ? hookIds : [] };
  const kinds = pick.some(["lost_answer", "lost_request", "late", "not_sent", "slow"] as const, 0.5);
  const faults = { rate: 0.4, kinds: kinds.length === 0 ? (["lost_answer"] as const) : kinds, phantom: 0.5, skip: 0 };
  const collect: Action[] = pick.chance(0.5) ? [{ do: "world", act: "collect_children", job, n: 0 }] : [];
  return [
    commitOf(memory, job, shape),
    { do: "run", calls: 10 + pick.below(25), ms: 1_000 },
    { do: "faults", faults },
    { do: "run", calls: 20, ms: 3_000 },
    { do: "crash", calls: pick.below(20), when: pick.chance(0.5) ? "before" : "after", downMs: 0 },
    ...collect,
    { do: "run", calls: 200, ms: 40_000 },
    { do: "faults", faults: undefined },
  ];
}

function canary(pick: Chooser, memory: Memory, job: JobId): Action[] {
  const first: JobShape = { ...plain, image: pick.below(9) };
  const then: JobShape = { ...first, image: first.image + 1, canary: true, autoRevert: pick.chance(0.5) };
  const crash: Action = { do: "crash", calls: pick.below(20), when: pick.chance(0.5) ? "before" : "after", downMs: 0 };
  return [
    commitOf(memory, job, first),
    { do: "run", calls: 400, ms: 15_000 },
    commitOf(memory, job, then),
    { do: "run", calls: 400, ms: 15_000 },
    ...(pick.chance(0.5) ? [crash, { do: "run", calls: 200, ms: 3_000 } as const] : []),
    { do: "person", act: pick.weighed({ promote: 4, fail: 1 }), job, who: "ann" },
    ...(pick.chance(0.5) ? [{ ...crash, calls: pick.below(6) }] : []),
    { do: "run", calls: 400, ms: 20_000 },
  ];
}

/** Somebody approves what lies on the screen, while git has moved on. */
function staleApproval(pick: Chooser, memory: Memory, job: JobId): Action[] {
  const shape: JobShape = { ...plain, image: pick.below(4), policy: "approval" };
  const next: Action = pick.chance(0.5) ? { do: "run", calls: 400, ms: 3_000 } : { do: "run", calls: pick.below(40), ms: 500 };
  return [
    commitOf(memory, job, shape),
    { do: "run", calls: 400, ms: 3_000 },
    { do: "person", act: "look", job, who: "ann" },
    commitOf(memory, job, { ...shape, image: 4 + pick.below(4) }),
    next,
    { do: "person", act: "approve_seen", job, who: "ann" },
    { do: "run", calls: 60, ms: 2_000 },
  ];
}

/** A pause falls into the moment of a start. */
function holdAtTheStart(pick: Chooser, memory: Memory, job: JobId): Action[] {
  const policy = pick.chance(0.5) ? "auto" : "approval";
  const shape: JobShape = { ...plain, image: pick.below(9), policy };
  const begin: Action[] =
    policy === "auto"
      ? [{ do: "until", call: "move", ms: 2_000 }]
      : [
          { do: "run", calls: 400, ms: 3_000 },
          { do: "person", act: "approve", job, who: "bob" },
          { do: "until", call: "approve", ms: 1_000 },
        ];
  const act = pick.of(["pause", "pause_all"] as const);
  return [
    commitOf(memory, job, shape),
    ...begin,
    { do: "person", act, job, who: "ann" },
    { do: "run", calls: 60, ms: 2_000 },
    { do: "person", act: act === "pause" ? "resume" : "resume_all", job, who: "ann" },
  ];
}

/** Only annotations of nops change, but the plans that detection or the deployment makes show an edit that is none. */
function unstablePlan(pick: Chooser, memory: Memory, job: JobId): Action[] {
  const shape: JobShape = { ...plain, image: pick.below(9) };
  return [
    { do: "faults", faults: undefined },
    { do: "person", act: "resume_all", job, who: "bob" },
    { do: "person", act: "promote", job, who: "bob" },
    { do: "commit", changes: [{ file: "check", hook: { version: 0, fate: "ok" } }] },
    commitOf(memory, job, shape),
    { do: "run", calls: 400, ms: 15_000 },
    { do: "world", act: "disturb_plans", job, n: pick.of([0, 0, 1, 2]) },
    commitOf(memory, job, { ...shape, post: ["check"] }),
    { do: "run", calls: pick.of([10, 60, 400]), ms: 10_000 },
  ];
}

/** A deployment fails after its register, and a person asks for another try of what is live by then. */
function failAfterRegister(pick: Chooser, memory: Memory, job: JobId): Action[] {
  const shape: JobShape = { ...plain, image: pick.below(9), post: ["check"] };
  return [
    { do: "commit", changes: [{ file: "check", hook: { version: pick.below(3), fate: "fail" } }] },
    commitOf(memory, job, shape),
    { do: "run", calls: 1_000, ms: 30_000 },
    { do: "person", act: pick.chance(0.7) ? "retry" : "reschedule", job, who: "bob" },
    { do: "run", calls: pick.below(60), ms: 10_000 },
    commitOf(memory, job, pick.chance(0.5) ? shape : makeJob(pick)),
  ];
}

/**
 * One process after another dies early in its life: the way back from a death is itself cut short. So many times wherever the history
 * stands, and so many more as long as a deployment is under way.
 */
export function deaths(pick: Chooser, anywhere: number, working: number): Action[] {
  const first = pick.below(anywhere);
  return Array.from({ length: first + pick.below(working + 1) }, (_, at): Action => {
    const downMs = pick.chance(at < first ? 0.06 : 0.004) ? pick.of([1_000, 45_000, 600_000]) : 0;
    const death = { do: "crash", when: pick.chance(0.5) ? "before" : "after", downMs } as const;
    if (at < first) return { ...death, calls: pick.callsOfLife() };
    return pick.chance(atWrites)
      ? { ...death, calls: 10, working: true, atWrite: true }
      : { ...death, calls: pick.callsOnTheWayBack(), working: true };
  });
}

/** Share of the deaths at work that come with the first write of a process. */
const atWrites = 0.06;

/** A deployment begins, comes to one of its turning points, and from there on its processes die young. */
export function deathsAtWork(pick: Chooser, memory: Memory): Action[] {
  const job = pick.of(memory.used);
  const before = memory.jobs.get(job) ?? makeJob(pick);
  const policy = pick.chance(0.75) ? "auto" : "approval";
  const shape: JobShape = { ...before, image: (before.image + 1) % 9, policy, window: "none", dependsOn: undefined };
  memory.jobs.set(job, shape);
  const hooks = hookIds.filter((id) => [...shape.pre, ...shape.post].includes(id));
  const changes = [{ file: job, job: shape }, ...hooks.map((file) => ({ file, hook: makeHook(pick) }))];
  const until = { do: "until", call: pick.of(hooks.length > 0 ? [...hookSteps, ...steps] : steps), working: true } as const;
  return [
    { do: "person", act: "resume_all", job, who: "ann" },
    { do: "person", act: "resume", job, who: "ann" },
    // Canaries that wait would hold up what comes.
    { do: "person", act: "promote", job, who: "ann" },
    { do: "commit", changes },
    { ...until, ms: 3_000 },
    // Whatever does not start by itself waits for these.
    { do: "person", act: "approve", job, who: "ann" },
    { do: "person", act: "approve", job, who: "bob" },
    { ...until, ms: 20_000 },
    ...deaths(pick, 4, pick.of([200, 800, 2_400])),
    { do: "run", calls: pick.of([10, 200]), ms: 20_000 },
  ];
}

/** What a deployment does on its way, and what it does besides when it has hooks. */
const steps = ["deployment", "move", "register", "recordApplied", "listAllocations"];
const hookSteps = ["ensureHookRun", "dispatch", "updateHookRun", "hookRuns"];

/** Ends a history in the middle of a wait that cannot succeed, so that its end has to come in time. */
export function lateStep(pick: Chooser, memory: Memory): Action[] {
  const [file] = memory.used;
  if (file === undefined) return [];
  return [
    { do: "faults", faults: undefined },
    { do: "run", calls: 1_000, ms: 90_000 },
    { do: "commit", changes: [{ file, job: { ...plain, image: 7 + pick.below(2), fate: "nowhere" } }] },
    { do: "run", calls: 1_000, ms: 45_000 },
  ];
}
