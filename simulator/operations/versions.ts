import { Refusal } from "../refusal.ts";
import { nanos } from "../state/facts.ts";
import { markStable } from "../state/job-writes.ts";
import { scoped } from "../state/table.ts";
import type { Job, VersionTag } from "../state/types.ts";
import { versionAt, versionsOf } from "../state/versions.ts";
import type { Operations } from "./context.ts";

/** Tags a version, so that it is kept. Throws Refusal (500). Returns the tag and the index of the write. */
export function tagVersion(
  ops: Operations,
  namespace: string,
  id: string,
  name: string,
  version: number,
  description: string,
): { tag: VersionTag; index: number } {
  const { state } = ops;
  const other = versionsOf(state, namespace, id).find((one) => one.VersionTag?.Name === name && one.Version !== version);
  if (other !== undefined) throw new Refusal(500, `tag "${name}" already exists on a different version of job "${id}"`);
  const current = state.jobs.get(scoped(namespace, id));
  const target = versionAt(state, namespace, id, version);
  if (current === undefined || target === undefined) throw new Refusal(500, `job "${id}" version ${version} not found`);
  const tag: VersionTag = { Name: name, Description: description, TaggedTime: nanos(ops.now()) };
  return { tag, index: putTag(ops, current, target, tag) };
}

/** Removes a tag. Throws Refusal (500) when no version carries it. Returns the index of the write. */
export function untagVersion(ops: Operations, namespace: string, id: string, name: string): number {
  const { state } = ops;
  const current = state.jobs.get(scoped(namespace, id));
  const target = versionsOf(state, namespace, id).find((one) => one.VersionTag?.Name === name);
  if (current === undefined || target === undefined) throw new Refusal(500, `tag "${name}" not found on job "${id}"`);
  return putTag(ops, current, target, null);
}

function putTag(ops: Operations, current: Job, target: Job, tag: VersionTag | null): number {
  return ops.state.write("JobVersionTag", (tx) => {
    const next = { ...target, VersionTag: tag, ModifyIndex: tx.index };
    tx.put("job_version", next);
    if (current.Version === target.Version) tx.put("jobs", { ...current, VersionTag: tag, ModifyIndex: tx.index });
    return tx.index;
  });
}

/** Marks a version stable or not by hand. Throws Refusal (500) when it is not kept. */
export function setStable(ops: Operations, namespace: string, id: string, version: number, stable: boolean): number {
  if (versionAt(ops.state, namespace, id, version) === undefined)
    throw new Refusal(500, `job "${id}" in namespace "${namespace}" at version ${version} not found`);
  return ops.state.write("JobStability", (tx) => {
    markStable(tx, namespace, id, version, stable);
    return tx.index;
  });
}
