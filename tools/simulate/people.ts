import type { Actor, Deployment } from "../../model/deployment.ts";
import type { PersonAct } from "./actions.ts";
import { repositoryName } from "./git-port.ts";
import { jobIds } from "./job-pool.ts";
import { Violation } from "./violation.ts";
import { keyFor, type World } from "./world.ts";

const actors: Readonly<Record<"ann" | "bob", Actor>> = {
  ann: { name: "ann", kind: "person", identity: "oidc:x:ann" },
  bob: { name: "bob", kind: "person", identity: "oidc:x:bob" },
};

/** What people saw last, and may still act on. */
export class People {
  private readonly world: World;
  private readonly seen = new Map<string, Deployment>();

  constructor(world: World) {
    this.world = world;
  }

  /** A person asks for something. The answer comes later, or never when the process dies first. */
  async act(act: PersonAct, job: string, who: "ann" | "bob"): Promise<void> {
    const { world } = this;
    const { operator } = world;
    const actor = actors[who];
    const key = keyFor(job);
    const { active, latest } = await world.store.jobFacts(key);
    const seen = this.seen.get(job);
    if (active?.state === "pending_approval") this.seen.set(job, active);
    switch (act) {
      case "look":
        return;
      case "approve":
        return this.approve(active?.state === "pending_approval" ? active : await this.anyPending(), actor);
      case "approve_seen":
        return this.approve(seen, actor);
      case "reject":
        if (active !== undefined) this.ask(act, operator.reject(active.id, "no", actor));
        return;
      case "pause":
        return this.ask(act, operator.pauseJob(key, "wait", actor));
      case "resume":
        return this.ask(act, operator.resumeJob(key, actor));
      case "pause_all":
        return this.ask(act, operator.pauseAll("wait", actor));
      case "resume_all":
        return this.ask(act, operator.resumeAll(actor));
      case "deploy_now":
        return this.ask(
          act,
          operator.job(key).then((view) => operator.deployNow(key, view.specHash ?? "", actor)),
        );
      case "retry":
      case "reschedule": {
        const wish = { reschedule: act === "reschedule", rerunUnknownHooks: world.random.next() < 0.5 };
        if (latest !== undefined) this.ask(act, operator.retry(latest.id, wish, actor));
        return;
      }
      case "promote":
        if (active !== undefined) this.ask(act, operator.promote(active.id, actor));
        return;
      case "fail":
        if (active !== undefined) this.ask(act, operator.fail(active.id, actor));
        return;
      case "resolve_ran":
      case "resolve_not":
        return this.resolve(latest, act === "resolve_ran" ? "ran" : "did_not_run", actor);
      case "accept":
        operator.fetch(repositoryName, actor);
    }
  }

  private approve(deployment: Deployment | undefined, actor: Actor): void {
    if (deployment === undefined) return;
    const { shadow, operator } = this.world;
    const { id, specHash } = deployment;
    shadow.clicked.add(`${id} ${specHash}`);
    const answer = operator.approve(id, specHash, undefined, actor);
    this.ask("approve", answer, () => shadow.acknowledged.push({ id, identity: actor.identity, specHash }));
  }

  private async anyPending(): Promise<Deployment | undefined> {
    for (const id of jobIds) {
      const { active } = await this.world.store.jobFacts(keyFor(id));
      if (active?.state === "pending_approval") return active;
    }
    return undefined;
  }

  private async resolve(latest: Deployment | undefined, resolution: "ran" | "did_not_run", actor: Actor): Promise<void> {
    if (latest === undefined) return;
    const runs = await this.world.store.hookRuns(latest.id);
    const unknown = runs.find((run) => run.state === "unknown");
    if (unknown !== undefined) this.ask("resolve", this.world.operator.resolveHook(unknown.id, resolution, actor));
  }

  private ask(what: string, answer: Promise<unknown>, onAnswer: () => void = () => undefined): void {
    const { world } = this;
    world.note(`person asks: ${what}`);
    answer.then(
      () => {
        world.note(`person is answered: ${what}`);
        onAnswer();
      },
      (error: unknown) => {
        world.note(`person is refused: ${what}: ${String(error)}`);
        if (error instanceof Violation) world.fail(error);
        else world.unexpected(what, error);
      },
    );
  }
}
