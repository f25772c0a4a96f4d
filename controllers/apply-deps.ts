import type { Clock } from "../model/clock.ts";
import type { Deployment } from "../model/deployment.ts";
import { jobKey } from "../model/job-key.ts";
import type { Redactor } from "../model/redact.ts";
import type { LiveIndex } from "./live-index.ts";
import type { ApplyPort, DriftPort, FactsPort, MovePort, NomadPort } from "./ports.ts";
import type { Wakes } from "./wakes.ts";

/** What bringing a spec into Nomad needs of the world. */
export interface ApplyDeps {
  readonly nomad: NomadPort;
  readonly store: Pick<FactsPort, "deployment" | "deploymentSpec" | "jobFacts"> &
    MovePort &
    ApplyPort &
    Pick<DriftPort, "saveVerdict" | "markUnknownRegistered" | "refreshBase">;
  readonly clock: Clock;
  readonly live: LiveIndex;
  readonly redactor: Redactor;
  readonly wakes: Wakes;
  /** Longest time from entering `applying` to healthy, where the job says nothing, ms. */
  readonly applyTimeoutMs: number;
}

/** The job of a deployment. */
export function keyOf(deployment: Deployment): ReturnType<typeof jobKey> {
  return jobKey(deployment.namespace, deployment.jobId);
}
