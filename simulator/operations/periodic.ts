import type { Timer } from "../../model/clock.ts";
import { Refusal } from "../refusal.ts";
import { isParameterized, isPeriodic, nanos, terminal } from "../state/facts.ts";
import { upsertJob } from "../state/job-writes.ts";
import { scoped } from "../state/table.ts";
import type { Job } from "../state/types.ts";
import type { Operations } from "./context.ts";
import { nextLaunch } from "./cron.ts";
import { evalFor, evaluate } from "./register.ts";

export interface Launched {
  readonly evalId: string;
  readonly index: number;
}

/** Timers longer than this wake in between: clocks of the runtime do not take more than about 24 days. */
const longestTimer = 86_400_000;

/** Launches periodic jobs at their times (nomad-api §4). */
export class Periodic {
  readonly #ops: Operations;
  readonly #tracked = new Map<string, { readonly job: Job; readonly timer: Timer | undefined }>();

  constructor(ops: Operations) {
    this.#ops = ops;
    ops.state.listen((write) => {
      for (const change of write.changes) {
        if (change.table !== "jobs") continue;
        const job = change.after ?? change.before;
        if (job === undefined || (!isPeriodic(job) && !this.#tracked.has(scoped(job.Namespace, job.ID)))) continue;
        if (change.after === undefined) this.#untrack(scoped(job.Namespace, job.ID));
        else this.#track(job);
      }
    });
    ops.state.onRestore(() => {
      for (const key of [...this.#tracked.keys()]) this.#untrack(key);
      for (const job of ops.state.jobs.rows.values()) if (isPeriodic(job)) this.#track(job);
    });
  }

  #untrack(key: string): void {
    this.#tracked.get(key)?.timer?.cancel();
    this.#tracked.delete(key);
  }

  #track(job: Job): void {
    const key = scoped(job.Namespace, job.ID);
    const known = this.#tracked.get(key);
    if (known !== undefined && known.job.JobModifyIndex === job.JobModifyIndex) return;
    this.#untrack(key);
    if (job.Stop || !job.Periodic?.Enabled || isParameterized(job)) return;
    this.#wait(key, job);
  }

  #wait(key: string, job: Job): void {
    const now = this.#ops.now();
    const at = nextLaunch(job, now);
    const delay = at === undefined ? longestTimer : at - now;
    const timer = this.#ops.clock.setTimer(Math.min(delay, longestTimer), () => {
      if (at !== undefined && delay <= longestTimer && this.#mayLaunch(job)) this.#launch(job, at);
      this.#wait(key, job);
    });
    this.#tracked.set(key, { job, timer });
  }

  /** `prohibit_overlap`: not while a child is waiting or running. */
  #mayLaunch(job: Job): boolean {
    if (!job.Periodic?.ProhibitOverlap) return true;
    const { state } = this.#ops;
    return !state.jobs.by("parent", scoped(job.Namespace, job.ID)).some((child) => {
      const key = scoped(child.Namespace, child.ID);
      const pending = state.evals.by("job", key).some((one) => one.Status === "pending" || one.Status === "blocked");
      return pending || state.allocs.by("job", key).some((alloc) => !terminal(alloc));
    });
  }

  /** Launches a job now, also where it may not overlap. Throws Refusal (500) when it is not launched by the clock either. */
  force(namespace: string, id: string): Launched {
    const job = this.#ops.state.jobs.get(scoped(namespace, id));
    if (job === undefined) throw new Refusal(500, "job not found");
    if (!isPeriodic(job)) throw new Refusal(500, "can't force launch non-periodic job");
    const tracked = this.#tracked.get(scoped(namespace, id));
    if (tracked === undefined) {
      throw new Refusal(500, `force launch for job "${id}" failed: can't force run non-tracked job "${id}" (${namespace})`);
    }
    return this.#launch(tracked.job, this.#ops.now());
  }

  #launch(job: Job, at: number): Launched {
    const ops = this.#ops;
    const ID = `${job.ID}/periodic-${Math.floor(at / 1000)}`;
    // Of the job as it was registered: what was said of it since, such as that it is stable, the launcher does not know.
    const child: Job = {
      ...job,
      ID,
      Name: ID,
      ParentID: job.ID,
      Periodic: null,
      Status: "",
      StatusDescription: "",
      SubmitTime: nanos(ops.now()),
    };
    const evaluation = evalFor(ops, child, "periodic-job");
    return ops.state.write("JobRegister", (tx) => {
      upsertJob(tx, child, { newId: ops.newId });
      evaluate(tx, child, { ...evaluation, JobModifyIndex: tx.index });
      tx.put("periodic_launch", { ID: job.ID, Namespace: job.Namespace, Launch: at });
      return { evalId: evaluation.ID, index: tx.index };
    });
  }
}
