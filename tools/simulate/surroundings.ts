import { AdmissionError } from "../../simulator/jobspec/types.ts";
import { deregister, register } from "../../simulator/operations/register.ts";
import { scale as scaleJob } from "../../simulator/operations/scale.ts";
import { Refusal } from "../../simulator/refusal.ts";
import { changeable, fail, promote } from "../../simulator/scheduler/deployment-ops.ts";
import { latestDeployment } from "../../simulator/scheduler/tainted.ts";
import type { Snapshot } from "../../simulator/state/state.ts";
import { scoped } from "../../simulator/state/table.ts";
import type { Job } from "../../simulator/state/types.ts";
import type { FileChange, WorldAct } from "./actions.ts";
import { brokenText, hookSpec, type JobId, jobSpec } from "./job-pool.ts";
import type { World } from "./world.ts";

/** What happens around nops: commits, and everything that people and Nomad do to the cluster by themselves. */
export class Surroundings {
  private readonly world: World;
  private taken: Snapshot | undefined;

  constructor(world: World) {
    this.world = world;
  }

  /** `running`: there is a process that a webhook can reach. */
  commit(changes: readonly FileChange[], running: boolean): void {
    const texts: Record<string, string | undefined> = {};
    for (const change of changes) {
      const path = `${change.file}.nomad.hcl`;
      if ("job" in change) {
        // Back to one file where there were two.
        texts[`${change.file}-twin.nomad.hcl`] = undefined;
        texts[path] = JSON.stringify(jobSpec(change.file, change.job));
      } else if ("hook" in change) texts[path] = JSON.stringify(hookSpec(change.file, change.hook));
      else if (change.text === "twice") texts[`${change.file}-twin.nomad.hcl`] = this.world.git.text(path);
      else texts[path] = change.text === "gone" ? undefined : `${brokenText} ${change.file}`;
    }
    for (const text of Object.values(texts)) if (text !== undefined) this.world.catalogue.note(text);
    this.world.git.commit(texts);
    // A webhook tells most of the time; else the poll finds it.
    if (this.world.random.next() < 0.8 && running) this.world.operator.fetch();
  }

  /** Whatever Nomad refuses did not happen. */
  act(act: WorldAct, job: JobId, n: number): void {
    try {
      this.attempt(act, job, n);
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof AdmissionError)) throw error;
      this.world.note(`Nomad refuses: ${error.message}`);
    }
  }

  private attempt(act: WorldAct, job: JobId, n: number): void {
    const { sim } = this.world;
    const ops = sim.operations;
    switch (act) {
      case "edit":
        this.edit(job, n);
        return;
      case "scale":
        scaleJob(ops, "default", job, {
          group: "main",
          count: 1 + (n % 3),
          message: "",
          error: false,
          meta: null,
          jobModifyIndex: 0,
        });
        return;
      case "stop":
        deregister(ops, "default", job);
        return;
      case "purge":
        deregister(ops, "default", job, { purge: true });
        return;
      case "collect":
        sim.collectGarbage();
        return;
      case "collect_children":
        for (const child of this.children()) if (child.Status === "dead") deregister(ops, "default", child.ID, { purge: true });
        return;
      case "stop_child":
        for (const child of this.children().slice(0, 1)) deregister(ops, "default", child.ID);
        return;
      case "promote":
      case "fail":
        this.turnRollout(act, job);
        return;
      case "snapshot":
        this.taken = sim.snapshot();
        return;
      case "restore":
        this.restore();
        return;
      case "disturb_plans":
        this.world.nomad.disturbPlans(job, 1 + (n % 3));
        return;
      case "gap":
        this.world.watch.breakAll();
        return;
      case "lose_node":
      case "return_node":
        this.turnNode(act, n);
        return;
    }
  }

  /** Somebody edits the job in Nomad's UI, or makes one of that name. */
  private edit(job: JobId, n: number): void {
    const { sim } = this.world;
    const live = sim.state.jobs.get(scoped("default", job));
    if (live === undefined) {
      const shape = { kind: "service", image: 9, fate: "ok", policy: "none", window: "none", count: 1 } as const;
      const more = { pre: [], post: [], dependsOn: undefined, canary: false, autoRevert: false, scaled: false };
      register(sim.operations, sim.admit({ ...jobSpec(job, { ...shape, ...more }) }).job);
      return;
    }
    const meta = { ...live.Meta, edited: String(n) };
    register(sim.operations, { ...live, Meta: meta, Stop: false });
  }

  private children(): Job[] {
    return [...this.world.sim.state.jobs.rows.values()].filter((job) => job.ParentID !== "");
  }

  private turnRollout(act: "promote" | "fail", job: JobId): void {
    const { sim } = this.world;
    const rollout = latestDeployment(sim.state, "default", job);
    if (rollout === undefined) return;
    const row = changeable(sim.state, rollout.ID, act);
    if (act === "promote") promote(sim.operations, row, undefined);
    else
      fail(
        sim.operations,
        row,
        "Deployment marked as failed",
        Object.values(row.TaskGroups).some((group) => group.AutoRevert),
      );
  }

  private restore(): void {
    const { taken, world } = this;
    if (taken === undefined) return;
    world.sim.restore(taken);
    world.shadow.restored(taken.index);
  }

  private turnNode(act: "lose_node" | "return_node", n: number): void {
    const nodes = [...this.world.sim.state.nodes.rows.values()];
    const node = nodes[n % nodes.length];
    if (node === undefined) return;
    if (act === "lose_node") this.world.sim.loseNode(node.ID);
    else this.world.sim.returnNode(node.ID);
  }

  /** All nodes are back. */
  mend(): void {
    for (const node of this.world.sim.state.nodes.rows.values()) if (node.Status !== "ready") this.world.sim.returnNode(node.ID);
  }
}
