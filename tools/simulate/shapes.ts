import type { Chooser } from "./chooser.ts";
import { type HookShape, hookIds, type JobId, type JobShape, jobIds } from "./job-pool.ts";

/** What the generator remembers of git. */
export interface Memory {
  readonly jobs: Map<JobId, JobShape>;
  readonly used: readonly JobId[];
}

export function makeJob(pick: Chooser): JobShape {
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
export function changeJob(before: JobShape, pick: Chooser): JobShape {
  const next = makeJob(pick);
  const name = pick.of(Object.keys(next) as (keyof JobShape)[]);
  return pick.chance(0.25) ? next : { ...before, image: (before.image + pick.below(3)) % 4, [name]: next[name] };
}

export function makeHook(pick: Chooser): HookShape {
  return { version: pick.below(3), fate: pick.weighed({ ok: 7, fail: 2, long: 1 }) };
}
