import type { Workspace } from "../config/workspace.ts";
import { type Journal, type ScopeRecord, scopeRecord } from "../journal/types.ts";
import type { DeployPlan } from "../pipeline/deploy.ts";
import { afterOf, hasPipeline } from "../pipeline/order.ts";
import { type Decision, scopeFingerprintOf } from "./decisions.ts";

/** What stands between `deploy run` and its pipeline (workspace §11). Pure. */

/** `noop`: nothing would be done. Otherwise what a person is asked about, or a script has to decide by flags. */
export interface GateVerdict {
  readonly noop: boolean;
  /** The scope is deployed and its configuration differs. */
  readonly changed: boolean;
  /** The scope's last run failed or died. */
  readonly incomplete: boolean;
}

interface GateInput {
  readonly deploy: DeployPlan;
  readonly journal: Journal;
  readonly decisions: ReadonlyMap<string, Decision>;
  readonly force: boolean;
}

/** How the journal stands to a run of this plan. With `force` nothing stands in its way. */
export function judgeGates(input: GateInput): GateVerdict {
  if (input.force) return { noop: false, changed: false, incomplete: false };
  const { deploy, journal } = input;
  const record = scopeRecord(journal, deploy.service);
  const status = record === undefined ? "not_deployed" : statusOf(journal, deploy.service);
  const incomplete = isIncomplete(record, status);
  const changed = status === "deployed" && record?.config_hash !== scopeFingerprintOf(deploy, deploy.service).hash;
  return { noop: !incomplete && status === "deployed" && isUnchanged(input), changed, incomplete };
}

function statusOf(journal: Journal, service: string | undefined): string {
  return service === undefined ? journal.project.status : (journal.services[service]?.status ?? "not_deployed");
}

/** A failed or half-done scope, or one whose last run failed or never ended (appendix B 16). */
function isIncomplete(record: ScopeRecord | undefined, status: string): boolean {
  const run = record?.last_run?.status;
  return status === "failed" || status === "partial" || status === "in_progress" || run === "failed" || run === "in_progress";
}

/** Every step would be skipped, every scope of the run is deployed at its present hash. */
function isUnchanged({ deploy, journal, decisions }: GateInput): boolean {
  const scopes = deploy.service === undefined ? [undefined, ...deploy.tracked] : [deploy.service];
  const settled = scopes.every(
    (scope) =>
      statusOf(journal, scope) === "deployed" &&
      scopeRecord(journal, scope)?.config_hash === scopeFingerprintOf(deploy, scope).hash,
  );
  return settled && [...decisions.entries()].every(([address, decision]) => !decision.run || isForeign(deploy, address));
}

/** In a run of one service the project's own first step decides nothing: its hash belongs to the full deploy. */
function isForeign(deploy: DeployPlan, address: string): boolean {
  return deploy.service !== undefined && !address.startsWith(`${deploy.service}/`);
}

/** Services that a service's deploy comes after and that are not deployed: a run of one service does not pull them in. */
export function missingAfter(workspace: Workspace, journal: Journal, name: string): readonly string[] {
  const service = workspace.services.get(name);
  if (service === undefined) return [];
  return afterOf(service).filter((before) => {
    const target = workspace.services.get(before);
    return target !== undefined && hasPipeline(target) && journal.services[before]?.status !== "deployed";
  });
}

/** Tracked services that were never deployed: `run` refuses to start without them. */
export function notDeployed(tracked: readonly string[], journal: Journal): readonly string[] {
  return tracked.filter((name) => journal.services[name]?.status !== "deployed");
}
