import type { AdmitContext, Admitted, ApiJob } from "../jobspec/types.ts";
import type { State } from "../state/state.ts";
import type { JobRules } from "./context.ts";

/** Jobs remembered; the oldest go first. */
const limit = 2000;

/**
 * Remembers what admission made of a job. A plan is mostly followed by a register of the same job, and simulations send the same
 * few jobs millions of times. What depends on chance, or on namespaces and pools that changed since, is made anew.
 */
export function rememberAdmissions(rules: JobRules, state: State): JobRules {
  const known = new Map<string, Admitted>();
  let index = -1;
  const admit = (job: ApiJob, context: AdmitContext): Admitted => {
    const current = state.indexOf("namespaces", "node_pools", "scheduler_config");
    if (current !== index) {
      known.clear();
      index = current;
    }
    const key = `${context.requestNamespace ?? ""}\u0000${context.requestRegion ?? ""}\u0000${JSON.stringify(job)}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    let chance = false;
    const admitted = rules.admit(job, {
      ...context,
      randomName: () => {
        chance = true;
        return context.randomName?.() ?? "";
      },
    });
    if (chance) return admitted;
    if (known.size >= limit) {
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    }
    known.set(key, admitted);
    return admitted;
  };
  return { ...rules, admit };
}
