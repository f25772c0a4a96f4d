import type { OperatorSettings } from "../../controllers/settings.ts";
import type { OperatorMode } from "../../plan/gates.ts";
import { policyFloor } from "../checkout/read.ts";
import type { Config } from "../config/schema.ts";

/** What the controllers are told of the configuration. */
export function operatorSettings(config: Config, mode: OperatorMode): OperatorSettings {
  const { engine, approval } = config;
  return {
    mode,
    repositories: config.repositories.map((repository) => ({
      name: repository.name,
      pollIntervalMs: repository.poll_interval,
      namespaces: repository.namespaces,
      defaults: {
        managed: repository.managed,
        policy: repository.default_policy,
        timeZone: config.windows.time_zone,
        hookTimeoutMs: engine.hook_timeout,
      },
    })),
    namespaces: config.nomad.namespaces,
    applyTimeoutMs: engine.apply_timeout,
    replanIntervalMs: engine.replan_interval,
    concurrency: engine.concurrency,
    maxNewDeploymentsPerCycle: engine.max_new_deployments_per_cycle,
    approval: {
      required: approval.required,
      authorMayApprove: approval.author_may_approve,
      minPolicy: policyFloor(approval.min_policy),
    },
  };
}
