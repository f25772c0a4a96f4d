import type { Instant } from "../model/clock.ts";
import type { JobKey } from "../model/job-key.ts";
import { isWaiting } from "../model/lifecycle.ts";
import type { OperatorMode } from "../plan/gates.ts";
import { Schedule } from "../queue/schedule.ts";
import { type Loop, type LoopOptions, startLoop } from "../queue/workers.ts";
import { ApplyController } from "./apply.ts";
import { keyOf } from "./apply-deps.ts";
import { Comparer } from "./compare.ts";
import { DesiredIndex } from "./desired-index.ts";
import { DriftController } from "./drift.ts";
import { Gatherer } from "./gather.ts";
import { LiveIndex } from "./live-index.ts";
import type { OperatorDeps } from "./operator.ts";
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
  readonly loops: {
    readonly source: Loop<string>;
    readonly drift: Loop<JobKey>;
    readonly apply: Loop<string>;
    readonly hooks: Loop<string>;
  };
  /** Window edges, one timer a job. */
  readonly edges: Schedule<JobKey>;
  /** The operator's own timers by name, and what each does. */
  readonly timers: Schedule<string>;
  readonly onTimer: Record<string, () => void>;
}

/** Builds the controllers and their loops, each with its narrowed ports. Nothing runs yet. */
export function buildParts(deps: OperatorDeps): Parts {
  const { settings, clock, nomad, store, redactor } = deps;
  const mode = { current: settings.mode };
  const desired = new DesiredIndex(
    settings.repositories.map((each) => each.name),
    settings.approval.minPolicy,
  );
  const live = new LiveIndex();
  const wakes = new Wakes(desired);
  const comparer = new Comparer({ nomad, store, live, clock, redactor });
  const apply = new ApplyController({ nomad, store, clock, live, redactor, wakes, applyTimeoutMs: settings.applyTimeoutMs });
  const gatherer = new Gatherer({
    facts: store,
    desired,
    comparer,
    clock,
    settings,
    redactor,
    mode: () => mode.current,
    activityOf: (id) => apply.activityOf(id),
  });
  const edges = new Schedule<JobKey>(clock, (key) => wakes.job(key));
  const onTimer: Record<string, () => void> = {};
  const timers = new Schedule<string>(clock, (name) => onTimer[name]?.());
  const onChange = async (keys: readonly JobKey[]): Promise<void> => {
    for (const key of keys) wakes.job(key);
    // A waiting deployment whose job left git while nops was away belongs to no key that changed.
    for (const active of await store.activeDeployments()) if (isWaiting(active.state)) wakes.job(keyOf(active));
  };
  const source = new SourceController({ git: deps.git, nomad, store, clock, redactor, settings, desired, onChange });
  const drift = new DriftController({ gatherer, desired, live, store, wakes, edges });
  const loopOptions = (concurrency: number): LoopOptions => ({
    clock,
    random: deps.random,
    log: deps.log,
    concurrency,
    ...(deps.onPass === undefined ? {} : { onPass: deps.onPass }),
  });
  const loops = {
    source: startLoop(source, loopOptions(4)),
    drift: startLoop(drift, loopOptions(settings.concurrency)),
    apply: startLoop(apply, loopOptions(settings.concurrency)),
    hooks: startLoop(apply, loopOptions(settings.concurrency)),
  };
  wakes.connect(loops, () => mode.current === "normal");
  return {
    mode,
    startedAt: { value: undefined },
    desired,
    live,
    wakes,
    comparer,
    gatherer,
    source,
    apply,
    loops,
    edges,
    timers,
    onTimer,
  };
}
