import type { JobSettings } from "../model/desired.ts";
import { type Policy, stricterPolicy } from "../model/policy.ts";

/**
 * The policy that counts for a job (operator §4.3, design D31): what it declares, raised to the namespace's floor; `none` when
 * it is not managed or any of its annotations is wrong, since half-understood settings are no settings.
 */
export function effectivePolicy(settings: JobSettings, floor: Policy | undefined): Policy {
  if (!settings.managed || settings.issues.some((issue) => issue.severity === "error")) return "none";
  return floor === undefined ? settings.policy : stricterPolicy(settings.policy, floor);
}

/** Whether the commit takes away the approval that the last completed deployment still needed (design D31). */
export function isPolicyLowered(policy: Policy, lastFloor: Policy | undefined): boolean {
  return policy === "auto" && lastFloor === "approval";
}
