import type { Journal, PhaseRecord, PhaseStatus, ProjectStatus, ServiceRecord, ServiceStatus } from "./types.ts";

/** How statuses follow from what lies below them (workspace §9.4, appendix B 4–6). */

/** A phase from its steps: a failure that was not let pass wins; all skipped is `skipped`. */
export function phaseStatus(phase: PhaseRecord): PhaseStatus {
  const steps = Object.values(phase.steps);
  if (steps.some((step) => step.status === "failed" && step.tolerated !== true)) return "failed";
  return steps.length > 0 && steps.every((step) => step.status === "skipped") ? "skipped" : "ok";
}

/** A service from its phases. One whose steps were all skipped by their conditions counts as deployed. */
export function serviceStatus(service: ServiceRecord): ServiceStatus {
  const phases = Object.values(service.phases);
  if (phases.length === 0) return "not_deployed";
  return phases.some((phase) => phase.status === "failed") ? "failed" : "deployed";
}

/**
 * The project from the services that exist in the configuration; records of others do not count.
 * @param known names of the services that count; `undefined` counts every record.
 */
export function projectStatus(journal: Journal, known: ReadonlySet<string> | undefined): ProjectStatus {
  const statuses = Object.entries(journal.services)
    .filter(([name]) => known === undefined || known.has(name))
    .map(([, service]) => ({ status: service.status, running: service.last_run?.status === "in_progress" }));
  if (statuses.length === 0) return journal.project.last_run?.status === "ok" ? "deployed" : "not_deployed";
  if (statuses.some(({ status, running }) => status === "failed" || status === "partial" || running)) return "failed";
  const deployed = statuses.filter(({ status }) => status === "deployed").length;
  if (deployed === statuses.length) return "deployed";
  return deployed === 0 ? "not_deployed" : "partial";
}

/** Recomputes every phase of a scope from its steps. */
export function recomputePhases(phases: Record<string, PhaseRecord>): void {
  for (const phase of Object.values(phases)) phase.status = phaseStatus(phase);
}

/**
 * Rebuilds all statuses from the step records, which it never touches: phases from steps, services from phases, the
 * project from services; a run that is still `in_progress` has died and becomes `failed`. Nobody may be running.
 * @returns whether anything changed.
 */
export function repairJournal(journal: Journal, known: ReadonlySet<string> | undefined): boolean {
  const before = JSON.stringify(journal);
  recomputePhases(journal.project.phases);
  if (journal.project.last_run?.status === "in_progress") journal.project.last_run.status = "failed";
  for (const service of Object.values(journal.services)) {
    recomputePhases(service.phases);
    const died = service.last_run?.status === "in_progress";
    if (died && service.last_run !== undefined) {
      service.last_run.status = "failed";
      // Only the service's run says that a whole pipeline failed; without it a project run may have died with it.
      if (journal.project.last_run !== undefined) journal.project.last_run.status = "failed";
    }
    service.status = died ? "failed" : serviceStatus(service);
  }
  journal.project.status = projectStatus(journal, known);
  return JSON.stringify(journal) !== before;
}
