import type { JobDiff } from "../../model/nomad.ts";
import type { DesiredUpdates, ServerJob, UpdateKind } from "../jobspec/types.ts";

/** What the scheduler does with a running allocation of this group. */
export function groupUpdateKind(_old: ServerJob, _next: ServerJob, _groupName: string): UpdateKind {
  throw new Error("not written yet");
}

/** Adds `Updates` and `Annotations`. `updates` is null for a stopped or unknown job. */
export function annotateDiff(_diff: JobDiff, _updates: Readonly<Record<string, DesiredUpdates>>): JobDiff {
  throw new Error("not written yet");
}
