import type { OperatorSettings } from "../../controllers/settings.ts";
import { builtInDefaults } from "../../model/settings.ts";
import type { HistorySettings } from "./actions.ts";
import { repositoryName } from "./git-port.ts";

/** Longest time of applying, ms. */
export const applyTimeoutMs = 60_000;

/** The configuration of every process of a history. */
export function operatorSettings(settings: HistorySettings): OperatorSettings {
  return {
    mode: "normal",
    repositories: [{ name: repositoryName, pollIntervalMs: 60_000, namespaces: [], defaults: builtInDefaults }],
    namespaces: ["default"],
    applyTimeoutMs,
    replanIntervalMs: settings.replanMs,
    concurrency: settings.concurrency,
    maxNewDeploymentsPerCycle: settings.mostStarts,
    approval: { required: settings.required, authorMayApprove: true, minPolicy: () => settings.minPolicy },
  };
}
