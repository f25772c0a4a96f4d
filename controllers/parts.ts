import type { Instant } from "../model/clock.ts";
import type { JobKey } from "../model/job-key.ts";
import { isWaiting } from "../model/lifecycle.ts";
import type { OperatorMode } from "../plan/gates.ts";
import { Schedule } from "../queue/schedule.ts";
import { type Loop, type LoopOptions, startLoop } from "../queue/workers.ts";
import { ApplyController } from "./apply.ts";
import { keyOf } from "./apply-deps.ts";
import { Comparer } from "./compare.ts";
import type { DecisionDeps } from "./decision-deps.ts";
import { DesiredIndex } from "./desired-index.ts";
import { DriftController } from "./drift.ts";
import { Gatherer } from "./gather.ts";
import { HooksController } from "./hooks.ts";
import { LiveIndex } from "./live-index.ts";
import type { OperatorDeps } from "./operator.ts";
import { OrphanController } from "./orphans.ts";
import { Past } from "./past.ts";
import { RevisionCollector } from "./revisions.ts";
import { SourceController } from "./source.ts";
import { Wakes } from "./wakes.ts";

/** Everything an operator is made of. */
export interface Parts {
  readonly mode: { current: OperatorMode };
  readonly startedAt: { value: Instant | undefined };
  readonly desired: DesiredIndex;
  readonly live: LiveIndex;
  readonly wakes: Wakes;
  readonly comparer: Comparer;
  readonly gatherer: Gatherer;
  readonly source: SourceController;
  readonly apply: ApplyController;
  readonly hooks: HooksController;
  readonly decisions: DecisionDeps;
  readonly orphans: OrphanController;
  readonly past: Past;
  /** What follows when a namespace may be acted upon. */
  readonly onProven: { do: (namespace: string) => void };
  readonly loops: {
    readonly source: Loop<string>;
    readonly drift: Loop<JobKey>;
    readonly apply: Loop<string>;
    readonly hooks: Loop<string>;
    readonly revisions: Loop<string>;
    readonly orphans: Loop<"all">;
  };
  /** Window edges, one timer a job. */
  readonly edges: Schedule<JobKey>;
  /** The operator's own timers by name, and what each does. */
  readonly timers: Schedule<string>;
  readonly onTimer: Record<string, () => void>;
}

/** After a look into Nomad's history that failed, ms. */
const lookAgainMs = 2_000;
const pastTimer = (namespace: string): string => `past ${namespace}`;
/** Deployments that end one after another share one look for revisions that nobody needs any more, ms. */
const collectAfterMs = 60_000;
/** A commit and a list come with many changes; one look for orphans serves them all, ms. */
export const orphansAfterMs = 500;

/** Builds the controllers and their loops, each with its narrowed ports. Nothing runs yet. */
export function buildParts(deps: OperatorDeps): Parts {
  const { settings, clock, nomad, store, redactor } = deps;
  const core = buildCore(deps);
  const { mode, desired, live, wakes, comparer, gatherer, apply, hooks } = core;
  const edges = new Schedule<JobKey>(clock, (key) => wakes.job(key));
  const onTimer: Record<string, () => void> = {};
  const timers = new Schedule<string>(clock, (name) => onTimer[name]?.());
  const onProven: Parts["onProven"] = { do: () => {} };
  const past = buildPast(deps, core, timers, (namespace) => onProven.do(namespace));
  for (const namespace of settings.namespaces)
    onTimer[pastTimer(namespace)] = () => void past.look(namespace, live.stubs(namespace));
  const isProven = (namespace: string): boolean => past.isProven(namespace);
  const drift = new DriftController({ isProven, gatherer, desired, live, store, wakes, edges, namespaces: settings.namespaces });
  const orphans = new OrphanController({ store, nomad, desired, live, namespaces: settings.namespaces });
  const onChange = async (keys: readonly JobKey[]): Promise<void> => {
    for (const key of keys) wakes.job(key);
    // A waiting deployment whose job left git while nops was away belongs to no key that changed. Before a namespace is proven nothing
    // can be done about it, and the proof looks at all of them.
    if (settings.namespaces.some(isProven))
      for (const active of await store.activeDeployments()) if (isWaiting(active.state)) wakes.job(keyOf(active));
    loops.orphans.add("all", { afterMs: orphansAfterMs });
  };
  const source = new SourceController({ git: deps.git, nomad, store, clock, redactor, settings, desired, onChange });
  const loops = startLoops(deps, core, { source, drift, orphans });
  wakes.connect(loops, (namespace) => mode.current === "normal" && isProven(namespace));
  const decisions: DecisionDeps = {
    store,
    nomad,
    gatherer,
    drift,
    desired,
    live,
    wakes,
    clock,
    settings,
    mode: () => mode.current,
  };
  const startedAt = { value: undefined };
  const own = { startedAt, source, decisions, orphans, past, onProven, loops, edges, timers, onTimer };
  return { mode, desired, live, wakes, comparer, gatherer, apply, hooks, ...own };
}

type Core = ReturnType<typeof buildCore>;

/** What Nomad's history says about this database; an older one makes the operator read-only (design D34). */
function buildPast(
  { store, nomad, log, clock }: OperatorDeps,
  { mode, desired, wakes }: Core,
  timers: Schedule<string>,
  onProven: (namespace: string) => void,
): Past {
  return new Past({
    store,
    nomad,
    log,
    onProven,
    onOlder: () => {
      mode.current = "restored_database";
      for (const job of desired.managed()) wakes.job(job.key);
    },
    again: (namespace) => timers.set(pastTimer(namespace), clock.now() + lookAgainMs),
  });
}

function startLoops(
  deps: OperatorDeps,
  { mode, apply, hooks, onPhaseEnd }: Core,
  built: { readonly source: SourceController; readonly drift: DriftController; readonly orphans: OrphanController },
): Parts["loops"] {
  const { settings, nomad, store } = deps;
  const loops = {
    source: startLoop(built.source, loopOptions(deps, 4)),
    drift: startLoop(built.drift, loopOptions(deps, settings.concurrency)),
    apply: startLoop(apply, loopOptions(deps, settings.concurrency)),
    hooks: startLoop(hooks, loopOptions(deps, settings.concurrency)),
    revisions: startLoop(new RevisionCollector({ nomad, store }), loopOptions(deps, 1)),
    orphans: startLoop(built.orphans, loopOptions(deps, 1)),
  };
  onPhaseEnd.do = (namespace) => {
    if (mode.current === "normal") loops.revisions.add(namespace, { afterMs: collectAfterMs });
  };
  return loops;
}

/** What the loops stand on. */
function buildCore({ settings, clock, nomad, store, redactor }: OperatorDeps) {
  const mode: { current: OperatorMode } = { current: settings.mode };
  const names = settings.repositories.map((each) => each.name);
  const desired = new DesiredIndex(names, settings.approval.minPolicy);
  const live = new LiveIndex();
  const wakes = new Wakes(desired);
  const comparer = new Comparer({ nomad, store, live, clock, redactor });
  const apply = new ApplyController({ nomad, store, clock, live, redactor, wakes, applyTimeoutMs: settings.applyTimeoutMs });
  const onPhaseEnd: { do: (namespace: string) => void } = { do: () => {} };
  const hooks = new HooksController({ nomad, store, clock, wakes, onPhaseEnd: (namespace) => onPhaseEnd.do(namespace) });
  const activityOf = (id: string): string | undefined => apply.activityOf(id) ?? hooks.activityOf(id);
  const gatherer = new Gatherer({
    facts: store,
    desired,
    comparer,
    clock,
    settings,
    redactor,
    mode: () => mode.current,
    activityOf,
  });
  return { mode, desired, live, wakes, comparer, apply, hooks, gatherer, onPhaseEnd };
}

function loopOptions({ clock, random, log, onPass }: OperatorDeps, concurrency: number): LoopOptions {
  return { clock, random, log, concurrency, ...(onPass === undefined ? {} : { onPass }) };
}
