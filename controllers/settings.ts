import type { Policy } from "../model/policy.ts";
import type { SettingsDefaults } from "../model/settings.ts";
import type { OperatorMode } from "../plan/gates.ts";

/** One repository as the operator needs it; how to reach it is the git adapter's matter. */
export interface RepositorySettings {
  readonly name: string;
  /** ms. */
  readonly pollIntervalMs: number;
  /** Allow-list, exact names; empty: all of the operator's namespaces. */
  readonly namespaces: readonly string[];
  readonly defaults: SettingsDefaults;
}

export interface OperatorSettings {
  readonly mode: OperatorMode;
  readonly repositories: readonly RepositorySettings[];
  /** Namespaces of Nomad that nops serves, at least one. */
  readonly namespaces: readonly string[];
  /** Longest time from entering `applying` to healthy, where the job says nothing, ms. */
  readonly applyTimeoutMs: number;
  /** Every job is planned again this often, as a safety net; 0: never. */
  readonly replanIntervalMs: number;
  /** Calls to Nomad in flight. */
  readonly concurrency: number;
  /** Automatic deployments that one commit may start by itself; 0: no brake (design D32). */
  readonly maxNewDeploymentsPerCycle: number;
  readonly approval: {
    /** Different people who have to approve. */
    readonly required: number;
    readonly authorMayApprove: boolean;
    /** Floor that no job of the namespace may fall below; `undefined`: none. */
    readonly minPolicy: (namespace: string) => Policy | undefined;
  };
}
