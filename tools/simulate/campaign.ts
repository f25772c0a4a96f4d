import { describeAction, type History } from "./actions.ts";
import { generateHistory } from "./generate.ts";
import { play } from "./play.ts";
import { shrink } from "./shrink.ts";
import type { Violation } from "./violation.ts";
import type { Breakage } from "./world.ts";

export interface CampaignOptions {
  /** Seeds are this one and those after it. */
  readonly seed: number;
  /** Whether to begin one more history. */
  readonly goOn: (played: number) => boolean;
  readonly breakage?: Breakage;
}

export interface CampaignResult {
  readonly histories: number;
  readonly calls: number;
  readonly crashes: number;
  readonly lives: number;
  readonly reached: ReadonlyMap<string, number>;
  /** Deaths by the call at which they came. */
  readonly deaths: ReadonlyMap<string, number>;
  readonly failed: { readonly seed: number; readonly history: History; readonly violation: Violation } | undefined;
}

/** Plays one history after another until it is told to stop or a rule is broken. */
export async function campaign(options: CampaignOptions): Promise<CampaignResult> {
  const sum = {
    histories: 0,
    calls: 0,
    crashes: 0,
    lives: 0,
    reached: new Map<string, number>(),
    deaths: new Map<string, number>(),
  };
  for (let seed = options.seed; options.goOn(sum.histories); seed++) {
    const history = generateHistory(seed);
    const { violation, counters, reached, actions } = await play(
      history,
      options.breakage === undefined ? {} : { breakage: options.breakage },
    );
    sum.histories += 1;
    sum.calls += counters.calls;
    sum.crashes += counters.crashes;
    sum.lives += counters.lives;
    for (const [name, count] of reached) sum.reached.set(name, (sum.reached.get(name) ?? 0) + count);
    for (const [name, count] of counters.deaths) sum.deaths.set(name, (sum.deaths.get(name) ?? 0) + count);
    if (violation === undefined) continue;
    const failed = { seed, history: { ...history, actions: history.actions.slice(0, actions + 1) }, violation };
    return { ...sum, failed };
  }
  return { ...sum, failed: undefined };
}

/** The failure in a form to work with: the seed, the rule, the shortest history found, and its last calls. */
export async function explainFailure(failed: NonNullable<CampaignResult["failed"]>, mostRuns = 300): Promise<string> {
  const short = await shrink(failed.history, failed.violation.invariant, { mostRuns });
  const trace: string[] = [];
  const { violation } = await play(short, { trace });
  return [
    `seed ${failed.seed}: ${failed.violation.message}`,
    `settings: ${JSON.stringify(short.settings)}`,
    `shortened from ${failed.history.actions.length} to ${short.actions.length} actions (${violation?.message ?? "not broken any more"}):`,
    ...short.actions.map((action, at) => `  ${at + 1}. ${describeAction(action)}`),
    "last calls:",
    ...trace.slice(-40).map((line) => `  ${line}`),
  ].join("\n");
}
