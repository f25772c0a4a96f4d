import { groupOf, isHealthy, isUnhealthy } from "../state/facts.ts";
import type { Allocation, Deployment, Evaluation, Job, TaskGroup } from "../state/types.ts";
import {
  type AllocSet,
  byRescheduling,
  type Classes,
  classify,
  difference,
  nameOrder,
  oldTerminal,
  pick,
  setOf,
  type Tainted,
  union,
} from "./alloc-set.ts";
import { disconnectChanges, reconnectChanges } from "./disconnect.ts";
import { laterEvals } from "./followups.ts";
import { NameIndex } from "./names.ts";
import {
  type Counts,
  type DraftState,
  newGroupState,
  noUpdates,
  type Placement,
  reasons,
  type Stop,
  stopAll,
} from "./plan-types.ts";
import { surplus } from "./surplus.ts";

/** The job as the reconciler sees it. `deployment` is the one of this version, `old` an earlier or finished one. */
export interface GenericInput {
  readonly job: Job;
  readonly batch: boolean;
  readonly tainted: Tainted;
  readonly now: number;
  readonly evalId: string;
  readonly evalPriority: number;
  readonly old: Deployment | undefined;
  readonly newId: () => string;
  /** Ignore, in place (with the room for it on the node checked) or destructive. */
  readonly updateOf: (alloc: Allocation, group: TaskGroup) => "ignore" | "in_place" | "destructive";
}

export interface DeploymentDraft {
  /** The deployment that is there, or the one that this pass makes. */
  row: Deployment | undefined;
  created: boolean;
  groups: Record<string, DraftState>;
}

export interface GroupResult {
  readonly desired: Counts;
  readonly places: Placement[];
  readonly destructive: Placement[];
  readonly inplace: Allocation[];
  readonly attributes: Allocation[];
  readonly stops: Stop[];
  readonly followups: Evaluation[];
  names: NameIndex | undefined;
  complete: boolean;
}

/** Reconciles one group of a service or batch job with what runs. */
export function reconcileGroup(
  input: GenericInput,
  name: string,
  existing: AllocSet,
  draft: DeploymentDraft,
  create: () => Deployment,
): GroupResult {
  const result: GroupResult = {
    desired: noUpdates(),
    places: [],
    destructive: [],
    inplace: [],
    attributes: [],
    stops: [],
    followups: [],
    names: undefined,
    complete: true,
  };
  const group = groupOf(input.job, name);
  let all = setOf(
    [...existing.values()].filter(
      (alloc) => alloc.DesiredStatus === "run" || (alloc.Job.Type === "batch" && !alloc.DesiredTransition.Reschedule),
    ),
  );
  if (group === undefined || group.Count === 0) {
    result.stops.push(...stopEverything(all, input));
    result.desired.Stop = all.size;
    return result;
  }
  const known = draft.row === undefined ? undefined : draft.groups[name];
  const state = known ?? newGroupState(group);
  if (input.batch) {
    const old = oldTerminal(all, input.job);
    result.desired.Ignore += old.size;
    all = difference(all, old);
  }
  const canaries = currentCanaries(input, draft, all, result);
  all = canaries.all;
  const pass = new GroupPass(input, group, draft, state, known !== undefined, result);
  pass.run(all, canaries.canaries);
  pass.finish(all, create);
  return result;
}

/** Stops what no longer has a place in the job. */
export function stopEverything(set: AllocSet, input: Pick<GenericInput, "tainted" | "now">): Stop[] {
  const classes = classify(set, input.tainted, input.now);
  const unknown = [...classes.ignore.values()].filter((alloc) => alloc.ClientStatus === "unknown");
  return [
    ...stopAll(
      union(classes.untainted, classes.migrate, classes.disconnecting, classes.reconnecting, setOf(unknown)),
      reasons.notNeeded,
    ),
    ...stopAll(classes.lost, reasons.lost, "lost"),
  ];
}

/** Stops canaries that are no longer wanted; returns those that are, and the rest of the group. */
function currentCanaries(
  input: GenericInput,
  draft: DeploymentDraft,
  all: AllocSet,
  result: GroupResult,
): { all: AllocSet; canaries: AllocSet } {
  const unwanted: string[] = [];
  const current = draft.row;
  for (const deployment of [input.old, current?.Status === "failed" ? current : undefined]) {
    for (const group of Object.values(deployment?.TaskGroups ?? {})) {
      if (!group.Promoted) unwanted.push(...(group.PlacedCanaries ?? []));
    }
  }
  const stop = pick(all, unwanted);
  result.desired.Stop += stop.size;
  result.stops.push(...stopAll(stop, reasons.notNeeded));
  const rest = difference(all, stop);
  if (current === undefined) return { all: rest, canaries: new Map() };
  const ids = Object.values(current.TaskGroups).flatMap((group) => group.PlacedCanaries ?? []);
  const classes = classify(pick(rest, ids), input.tainted, input.now);
  result.stops.push(...stopAll(classes.migrate, reasons.migrating), ...stopAll(classes.lost, reasons.lost, "lost"));
  return { all: difference(rest, classes.migrate, classes.lost), canaries: classes.untainted };
}

/** One pass over one group: the order of the steps decides what counts twice and what does not. */
class GroupPass {
  readonly #in: GenericInput;
  readonly #group: TaskGroup;
  readonly #draft: DeploymentDraft;
  readonly #state: DraftState;
  readonly #existing: boolean;
  readonly #out: GroupResult;
  #destructive: AllocSet = new Map();
  #inplace: AllocSet = new Map();
  #requiresCanaries = false;
  #pendingWork = 0;

  constructor(
    input: GenericInput,
    group: TaskGroup,
    draft: DeploymentDraft,
    state: DraftState,
    existing: boolean,
    out: GroupResult,
  ) {
    this.#in = input;
    this.#group = group;
    this.#draft = draft;
    this.#state = state;
    this.#existing = existing;
    this.#out = out;
  }

  get #canarying(): boolean {
    return this.#state.DesiredCanaries !== 0 && !this.#state.Promoted;
  }

  get #paused(): boolean {
    return ["paused", "pending", "initializing"].includes(this.#draft.row?.Status ?? "");
  }

  get #failed(): boolean {
    return this.#draft.row?.Status === "failed";
  }

  run(all: AllocSet, canaries: AllocSet): void {
    const { desired } = this.#out;
    const classes: Classes = classify(all, this.#in.tainted, this.#in.now);
    desired.Ignore += classes.ignore.size;
    const { batch, now, evalId } = this.#in;
    const rescheduled = byRescheduling(classes.untainted, batch, now, evalId, this.#draft.row);
    const migrating = byRescheduling(classes.migrate, batch, now, evalId, this.#draft.row);
    let untainted = reconnectChanges(rescheduled.untainted, classes, all, this.#in.job, this.#out);
    const again = union(rescheduled.now, migrating.now);
    const later = [...rescheduled.later, ...migrating.later];
    const cutOff = disconnectChanges(classes.disconnecting, this.#in, this.#out);
    untainted = union(untainted, cutOff.untainted);
    for (const [id, alloc] of cutOff.replace) again.set(id, alloc);
    this.#scheduleLater(later, all);
    const { lost, migrate } = classes;
    const names = new NameIndex(this.#in.job.ID, this.#group.Name, this.#group.Count, union(untainted, migrate, again, lost));
    this.#out.names = names;
    const stopped = surplus({ group: this.#group, names, untainted, migrate, lost, canaries, canarying: this.#canarying });
    this.#out.stops.push(...stopped.stops);
    desired.Stop += stopped.count;
    untainted = difference(untainted, stopped.ids);
    this.#sortUpdates(untainted);
    if (this.#canarying) untainted = difference(untainted, canaries);
    this.#placeCanaries(canaries, names);
    const room = this.#room(untainted, migrate.size);
    const wanted = this.#missing(names, untainted, migrate, again, lost);
    if (!this.#existing) this.#state.DesiredTotal += wanted.length;
    this.#place(wanted, again, lost, cutOff.replace, migrate, room);
    this.#migrate(migrate);
    const limit = this.#group.Count;
    if (this.#out.places.length > limit) {
      this.#out.places.length = limit;
      desired.Place = limit;
    }
    this.#pendingWork =
      this.#destructive.size + this.#inplace.size + this.#out.places.length + migrate.size + again.size + later.length;
  }

  /** A failed allocation that must wait gets an evaluation for its time, and carries that evaluation's id. */
  #scheduleLater(later: { readonly alloc: Allocation; readonly at: number }[], all: AllocSet): void {
    if (later.length === 0) return;
    const made = laterEvals(later, this.#in.job, this.#in.evalPriority, "alloc-reschedule", this.#in.newId);
    this.#out.followups.push(...made.evals);
    this.#out.desired.RescheduleLater = later.length;
    for (const { alloc } of later) {
      const current = all.get(alloc.ID) ?? alloc;
      this.#out.attributes.push({ ...current, FollowupEvalID: made.byAlloc.get(alloc.ID) ?? "" });
    }
  }

  #sortUpdates(untainted: AllocSet): void {
    for (const [id, alloc] of untainted) {
      const kind = this.#in.updateOf(alloc, this.#group);
      if (kind === "ignore") this.#out.desired.Ignore++;
      else (kind === "destructive" ? this.#destructive : this.#inplace).set(id, alloc);
    }
    this.#out.inplace.push(...this.#inplace.values());
    this.#out.desired.InPlaceUpdate += this.#inplace.size;
    if (!this.#existing) this.#state.DesiredTotal += this.#destructive.size + this.#inplace.size;
  }

  #placeCanaries(canaries: AllocSet, names: NameIndex): void {
    const update = this.#group.Update;
    this.#requiresCanaries =
      update !== null &&
      update !== undefined &&
      this.#destructive.size !== 0 &&
      canaries.size < update.Canary &&
      !this.#state.Promoted;
    if (!this.#requiresCanaries || !update) return;
    this.#state.DesiredCanaries = update.Canary;
    if (this.#paused || this.#failed) return;
    this.#out.desired.Canary += update.Canary - canaries.size;
    for (const name of names.nextCanaries(update.Canary - canaries.size, canaries, this.#destructive)) {
      this.#out.places.push(this.#placement(name, { canary: true }));
    }
  }

  /** How many allocations may be replaced now. */
  #room(untainted: AllocSet, migrating: number): number {
    const update = this.#group.Update;
    if (!update || update.MaxParallel === 0 || this.#destructive.size + migrating === 0) return this.#group.Count;
    const deployment = this.#draft.row;
    if (deployment === undefined || this.#draft.created) return update.MaxParallel;
    if (this.#paused || this.#failed || this.#canarying) return 0;
    let room = update.MaxParallel;
    for (const alloc of untainted.values()) {
      if (alloc.DeploymentID !== deployment.ID) continue;
      if (isUnhealthy(alloc.DeploymentStatus)) return 0;
      if (!isHealthy(alloc.DeploymentStatus)) room--;
    }
    return Math.max(0, room);
  }

  #placement(name: string, more: Partial<Placement>): Placement {
    return {
      name,
      group: this.#group,
      canary: false,
      previous: undefined,
      reschedule: false,
      downgrade: false,
      stopPrevious: false,
      ...more,
    };
  }

  #missing(names: NameIndex, untainted: AllocSet, migrate: AllocSet, again: AllocSet, lost: AllocSet): Placement[] {
    const replacement = (alloc: Allocation, reschedule: boolean): Placement => {
      const canary = alloc.DeploymentStatus?.Canary ?? false;
      return this.#placement(alloc.Name, { previous: alloc, reschedule, canary, downgrade: this.#canarying && !canary });
    };
    const wanted = [...again.values()].map((alloc) => replacement(alloc, true));
    let have = untainted.size + migrate.size + again.size;
    for (const alloc of lost.values()) {
      if (have >= this.#group.Count) break;
      have++;
      wanted.push(replacement(alloc, false));
    }
    if (have < this.#group.Count) {
      for (const name of names.next(this.#group.Count - have)) wanted.push(this.#placement(name, { downgrade: this.#canarying }));
    }
    return wanted;
  }

  #place(wanted: Placement[], again: AllocSet, lost: AllocSet, cutOff: AllocSet, migrate: AllocSet, roomBefore: number): void {
    const { desired, places, stops } = this.#out;
    let room = roomBefore;
    const ready = !this.#paused && !this.#failed && !this.#canarying;
    if (ready) {
      places.push(...wanted);
      desired.Place += wanted.length;
      const failed = difference(again, cutOff, migrate);
      stops.push(...stopAll(failed, reasons.rescheduled));
      desired.Stop += failed.size;
      room -= Math.min(wanted.length, room);
      const replaced = nameOrder(this.#destructive).slice(0, room);
      desired.DestructiveUpdate += replaced.length;
      desired.Ignore += this.#destructive.size - replaced.length;
      for (const alloc of replaced)
        this.#out.destructive.push(this.#placement(alloc.Name, { previous: alloc, stopPrevious: true }));
      return;
    }
    desired.Ignore += this.#destructive.size;
    const replaced = wanted.slice(0, lost.size);
    places.push(...replaced);
    desired.Place += replaced.length;
    for (const placement of wanted) {
      const { previous } = placement;
      if (!placement.reschedule || previous === undefined) continue;
      if (this.#failed && previous.DeploymentID === this.#draft.row?.ID) continue;
      if (!replaced.includes(placement)) {
        places.push(placement);
        desired.Place++;
      }
      if (cutOff.has(previous.ID)) continue;
      stops.push({ alloc: previous, clientStatus: "", description: reasons.rescheduled, followupEval: "" });
      desired.Stop++;
    }
  }

  #migrate(migrate: AllocSet): void {
    this.#out.desired.Migrate += migrate.size;
    for (const alloc of nameOrder(migrate)) {
      this.#out.stops.push({ alloc, clientStatus: "", description: reasons.migrating, followupEval: "" });
      if (alloc.Job.Type === "batch" && (alloc.DesiredTransition.Reschedule || alloc.DesiredTransition.MigrateDisablePlacement))
        continue;
      const canary = alloc.DeploymentStatus?.Canary ?? false;
      this.#out.places.push(this.#placement(alloc.Name, { previous: alloc, canary, downgrade: this.#canarying && !canary }));
    }
  }

  /** Makes the group part of a deployment when this version is new here, and says whether the group is done. */
  finish(all: AllocSet, create: () => Deployment): void {
    const update = this.#group.Update;
    const strategy = update !== null && update !== undefined && update.MaxParallel !== 0;
    if (!this.#existing && strategy && this.#state.DesiredTotal !== 0 && !this.#in.batch) {
      const updating = this.#destructive.size !== 0 || this.#out.desired.InPlaceUpdate !== 0;
      const { Version, CreateIndex } = this.#in.job;
      const ranBefore = [...all.values()].some((alloc) => alloc.Job.Version === Version && alloc.Job.CreateIndex === CreateIndex);
      if (!ranBefore || updating) {
        if (this.#draft.row === undefined) {
          this.#draft.row = create();
          this.#draft.created = true;
        }
        this.#draft.groups[this.#group.Name] = this.#state;
      }
    }
    const row = this.#draft.row;
    if (this.#pendingWork !== 0 || this.#requiresCanaries || row === undefined) {
      this.#out.complete = false;
      return;
    }
    const state = this.#draft.groups[this.#group.Name];
    if (state === undefined) return;
    const enough = state.HealthyAllocs >= Math.max(state.DesiredTotal, state.DesiredCanaries);
    this.#out.complete = enough && !(state.DesiredCanaries > 0 && !state.Promoted);
  }
}
