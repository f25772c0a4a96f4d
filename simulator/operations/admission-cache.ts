import type { AdmitContext, Admitted, ApiJob } from "../jobspec/types.ts";
import type { State } from "../state/state.ts";
import { fillTemplate, type Shape, shapeOf, type Template, templateOf } from "./admission-template.ts";
import type { JobRules } from "./context.ts";

/** Jobs remembered; the oldest go first. */
const limit = 2000;

/**
 * Remembers what admission made of a job. A plan is mostly followed by a register of the same job, and simulations send the same
 * few jobs millions of times, some under other names or with another command. What depends on chance, or on namespaces and pools
 * that changed since, is made anew.
 */
export function rememberAdmissions(rules: JobRules, state: State): JobRules {
  const known = new Map<string, Admitted>();
  const templates = new Map<string, Template>();
  let index = -1;
  const admit = (job: ApiJob, context: AdmitContext): Admitted => {
    const current = state.indexOf("namespaces", "node_pools", "scheduler_config");
    if (current !== index) {
      known.clear();
      templates.clear();
      index = current;
    }
    const request = `${context.requestNamespace ?? ""}\u0000${context.requestRegion ?? ""}\u0000`;
    const key = request + JSON.stringify(job);
    const found = known.get(key);
    if (found !== undefined) return found;
    const shape = shapeOf(job);
    const place = request + (shape?.text ?? "");
    const filled = shape === undefined ? undefined : filledFrom(templates.get(place), shape);
    if (filled !== undefined) return remembered(known, key, filled);
    let chance = false;
    const admitted = rules.admit(job, {
      ...context,
      randomName: () => {
        chance = true;
        return context.randomName?.() ?? "";
      },
    });
    if (chance) return admitted;
    const template = shape === undefined ? undefined : templateOf(shape, admitted);
    if (template !== undefined) remembered(templates, place, template);
    return remembered(known, key, admitted);
  };
  return { ...rules, admit };
}

function filledFrom(template: Template | undefined, shape: Shape): Admitted | undefined {
  return template === undefined ? undefined : fillTemplate(template, shape);
}

function remembered<T>(all: Map<string, T>, key: string, value: T): T {
  if (all.size >= limit) {
    const [oldest] = all.keys();
    if (oldest !== undefined) all.delete(oldest);
  }
  all.set(key, value);
  return value;
}
