import type { Deployment } from "../model/deployment.ts";
import type { DesiredJob } from "../model/desired.ts";
import type { BirthState, DeploymentMode, Trigger } from "../model/lifecycle.ts";
import type { ReasonCode } from "../model/reasons.ts";

/** What the drift controller has to do for a job: at most one thing. */
export type Decision =
  | { readonly act: "nothing"; readonly reason: ReasonCode; readonly message: string; readonly changesAt: number | undefined }
  | { readonly act: "drop_lift"; readonly message: string }
  | { readonly act: "refresh_base"; readonly deployment: Deployment }
  | {
      readonly act: "move";
      readonly deployment: Deployment;
      readonly trigger: Trigger;
      readonly reason: ReasonCode;
      readonly message: string;
    }
  | { readonly act: "create"; readonly birth: Birth };

/** What the new deployment is born as. */
export interface Birth {
  readonly job: DesiredJob;
  readonly state: BirthState;
  readonly mode: DeploymentMode;
  readonly reason: ReasonCode;
  readonly message: string;
  readonly retryOf: string | undefined;
  readonly reschedule: boolean;
  readonly windowLiftedBy: string | undefined;
}
