import type { Action, History } from "./actions.ts";
import { play } from "./play.ts";
import type { Invariant } from "./violation.ts";
import type { Breakage } from "./world.ts";

/**
 * A shorter history that breaks the same rule: leaves out ever smaller pieces as long as that keeps the failure (delta debugging).
 * At most `mostRuns` histories are played.
 */
export async function shrink(
  history: History,
  rule: Invariant,
  options: { readonly breakage?: Breakage; readonly mostRuns?: number } = {},
): Promise<History> {
  let runs = options.mostRuns ?? 300;
  const fails = async (actions: readonly Action[]): Promise<boolean> => {
    runs -= 1;
    const { violation } = await play(
      { ...history, actions },
      options.breakage === undefined ? {} : { breakage: options.breakage },
    );
    return violation?.invariant === rule;
  };
  let kept = history.actions;
  let size = Math.ceil(kept.length / 2);
  while (size >= 1 && runs > 0) {
    let left = false;
    for (let at = 0; at < kept.length && runs > 0; ) {
      const without = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (without.length < kept.length && (await fails(without))) {
        kept = without;
        left = true;
      } else at += size;
    }
    if (size === 1 && !left) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return { ...history, actions: kept };
}
