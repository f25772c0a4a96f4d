import { canonicalJson, targetHash, withoutServerFields } from "../../model/hash.ts";
import type { JobSpec } from "../../model/nomad.ts";
import { parseText } from "./job-pool.ts";

const targets = new Map<string, { readonly hash: string; readonly spec: JobSpec } | undefined>();

function targetOf(text: string): { readonly hash: string; readonly spec: JobSpec } | undefined {
  if (targets.has(text)) return targets.get(text);
  const spec = parseText(text);
  const whole = spec === undefined ? undefined : { ...spec, Namespace: "default" };
  const found = whole === undefined ? undefined : { hash: targetHash(whole), spec: whole };
  targets.set(text, found);
  return found;
}

/** Every spec that git ever had in a history, by its hash: what may be registered at all. */
export class Catalogue {
  private readonly specs = new Map<string, JobSpec>();

  note(text: string): void {
    const found = targetOf(text);
    if (found !== undefined) this.specs.set(found.hash, found.spec);
  }

  byTarget(hash: string): JobSpec | undefined {
    return this.specs.get(hash);
  }

  /** Whether a spec says what git said under this hash, apart from the counts of scaled groups. */
  isTarget(spec: JobSpec, hash: string): boolean {
    const target = this.specs.get(hash);
    return target !== undefined && plainText(spec) === plainText(target);
  }
}

function plainText(spec: JobSpec): string {
  const groups = (spec.TaskGroups ?? []).map((group) => ((group.Scaling ?? null) === null ? group : { ...group, Count: 0 }));
  return canonicalJson(withoutServerFields({ ...spec, TaskGroups: groups }));
}
