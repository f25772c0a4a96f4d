import type { JobDiff } from "../../model/nomad.ts";
import type { ServerJob } from "../jobspec/types.ts";

/** The difference as plan shows it. */
export function jobDiff(_old: ServerJob | undefined, _next: ServerJob | undefined, _contextual: boolean): JobDiff {
  throw new Error("not written yet");
}
