import type { Deployment, FrozenHook } from "../model/deployment.ts";
import type { JobSpec } from "../model/nomad.ts";

export type HookMeta =
  | { readonly ok: true; readonly meta: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string };

/**
 * What a hook's dispatch is told (operator §13.2): of everything on offer only the keys that the hook declares, since Nomad
 * refuses others. A required key that nops cannot provide, or one that two tasks would fill differently, fails the hook.
 */
export function hookMeta(hook: FrozenHook, deployment: Deployment, target: JobSpec, runToken: string): HookMeta {
  const block = hook.spec.ParameterizedJob;
  const required = block?.MetaRequired ?? [];
  const declared = new Set([...required, ...(block?.MetaOptional ?? [])]);
  const images = imageKeys(target);
  const clash = [...images].find(([key, values]) => declared.has(key) && values.size > 1);
  if (clash !== undefined) return { ok: false, message: `tasks with different images map to the one key ${clash[0]}` };
  const offered = new Map<string, string>([
    ["nops_deployment_id", deployment.id],
    ["nops_job_id", deployment.jobId],
    ["nops_namespace", deployment.namespace],
    ["nops_commit", deployment.commitSha],
    ["nops_phase", hook.phase],
    ["nops_run_id", runToken],
    ...[...images].map(([key, values]): [string, string] => [key, [...values][0] ?? ""]),
  ]);
  const lacking = required.filter((key) => !offered.has(key));
  if (lacking.length > 0) return { ok: false, message: `it requires meta that nops does not provide: ${lacking.join(", ")}` };
  return { ok: true, meta: Object.fromEntries([...offered].filter(([key]) => declared.has(key))) };
}

/** `nops_image_<task>` with everything but letters and digits in the task's name as `_`, to the images it would carry. */
function imageKeys(target: JobSpec): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const task of (target.TaskGroups ?? []).flatMap((group) => group.Tasks ?? [])) {
    const image = task.Config?.image;
    if (typeof image !== "string") continue;
    const key = `nops_image_${task.Name.replace(/[^A-Za-z0-9]/g, "_")}`;
    found.set(key, (found.get(key) ?? new Set<string>()).add(image));
  }
  return found;
}
