import { groupOf, isHealthy, isUnhealthy } from "../state/facts.ts";
import type { Allocation, Deployment, TaskGroup } from "../state/types.ts";
import { type AllocSet, classify, difference, nameOrder, oldTerminal, pick, setOf, union } from "./alloc-set.ts";
import { stoppedByClients } from "./disconnect.ts";
import { laterEvals } from "./followups.ts";
import { retryLater, sortGroup } from "./group-sets.ts";
import type { DeploymentDraft, GenericInput, GroupResult } from "./group-types.ts";
import { NameIndex } from "./names.ts";
import { type DraftState, newGroupState, noUpdates, type Placement, reasons, type Stop, stopAll } from "./plan-types.ts";
import { surplus } from "./surplus.ts";

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
    unknown: new Map(),
    reconnected: [],
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
  const unknown = [...classes.ignore.values(), ...classes.expiring.values()].filter((alloc) => alloc.ClientStatus === "unknown");
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
    const sets = sortGroup(all, this.#in, this.#draft.row, this.#out);
    const { migrate, lost, again } = sets;
    let { untainted } = sets;
    const names = new NameIndex(this.#in.job.ID, this.#group.Name, this.#group.Count, union(untainted, migrate, again, lost));
    this.#out.names = names;
    const waiting = stoppedByClients(lost, this.#in.now);
    const made = laterEvals(waiting, this.#in.job, this.#in.evalPriority, "alloc-failure", this.#in.newId);
    this.#out.followups.push(...made.evals);
    retryLater(sets.later, all, migrate, this.#in, this.#out);
    const lostStops = stopAll(lost, reasons.lost, "lost").map((stop) => ({
      ...stop,
      followupEval: made.byAlloc.get(stop.alloc.ID) ?? "",
    }));
    const canarying = this.#canarying;
    const stopped = surplus({ group: this.#group, names, untainted, migrate, lostStops, canaries, canarying });
    this.#out.stops.push(...stopped.stops);
    desired.Stop += stopped.count;
    untainted = difference(untainted, stopped.ids);
    this.#sortUpdates(untainted);
    if (this.#canarying) untainted = difference(untainted, canaries);
    this.#placeCanaries(canaries, names);
    const room = this.#room(untainted, migrate.size);
    // What its client is still to stop keeps its whole group waiting.
    const wanted = waiting.length > 0 ? [] : this.#missing(names, untainted, migrate, again, lost);
    if (!this.#existing) this.#state.DesiredTotal += wanted.length;
    this.#place(wanted, again, lost, migrate, room);
    this.#migrate(migrate);
    const limit = this.#group.Count;
    if (this.#out.places.length > limit) {
      this.#out.places.length = limit;
      desired.Place = limit;
    }
    this.#pendingWork =
      this.#destructive.size + this.#inplace.size + this.#out.places.length + migrate.size + again.size + sets.later.length;
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

  #place(wanted: Placement[], again: AllocSet, lost: AllocSet, migrate: AllocSet, roomBefore: number): void {
    const { desired, places, stops, unknown } = this.#out;
    let room = roomBefore;
    const ready = !this.#paused && !this.#failed && !this.#canarying;
    if (ready) {
      places.push(...wanted);
      desired.Place += wanted.length;
      const failed = setOf([...difference(again, migrate).values()].filter((alloc) => alloc.ClientStatus !== "unknown"));
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
      // A server counts one that stands in for a lost one as well twice.
      places.push(placement);
      desired.Place++;
      if (unknown.has(previous.ID)) continue;
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
