import { describe, expect, it } from "vitest";
import { phaseStatus, projectStatus, repairJournal, serviceStatus } from "./aggregate.ts";
import { emptyJournal, type Journal, type ServiceStatus, type StepRecord } from "./types.ts";

const step = (status: StepRecord["status"], more: Partial<StepRecord> = {}): StepRecord => ({
  status,
  finished_at: "2026-02-03T10:00:30Z",
  action_hash: "b0f2",
  duration_ms: 1,
  ...more,
});

function withServices(...statuses: readonly ServiceStatus[]): Journal {
  const journal = emptyJournal();
  statuses.forEach((status, index) => {
    journal.services[`s${index}`] = { status, phases: {} };
  });
  return journal;
}

describe("project status", () => {
  it.each([
    ["deployed", ["deployed", "deployed"]],
    ["failed", ["deployed", "failed"]],
    ["partial", ["deployed", "not_deployed"]],
    ["not_deployed", ["not_deployed", "not_deployed"]],
    ["failed", ["deployed", "partial"]],
    ["not_deployed", []],
  ] as const)("case 51: %s for %j", (expected, statuses) => {
    expect(projectStatus(withServices(...statuses), undefined)).toBe(expected);
  });
  it("is deployed without services when the last run was good", () => {
    const journal = emptyJournal();
    journal.project.last_run = { status: "ok" };
    expect(projectStatus(journal, undefined)).toBe("deployed");
  });
  it("case 62: records of services that exist no more do not count", () => {
    expect(projectStatus(withServices("deployed", "failed"), new Set(["s0"]))).toBe("deployed");
  });
  it("a service whose run has not ended makes the project failed", () => {
    const journal = withServices("deployed");
    journal.services.s0 = { status: "deployed", last_run: { status: "in_progress" }, phases: {} };
    expect(projectStatus(journal, undefined)).toBe("failed");
  });
});

describe("phase and service status", () => {
  it.each([
    ["failed", [step("ok"), step("failed")]],
    ["ok", [step("ok"), step("skipped")]],
    ["skipped", [step("skipped"), step("skipped")]],
    ["ok", [step("failed", { tolerated: true })]],
    ["ok", []],
  ] as const)("%s", (expected, steps) => {
    expect(phaseStatus({ steps: Object.fromEntries(steps.map((one, index) => [String(index), one])) })).toBe(expected);
  });
  it("a service of skipped steps only is deployed", () => {
    expect(serviceStatus({ status: "not_deployed", phases: { a: { status: "skipped", steps: {} } } })).toBe("deployed");
    expect(serviceStatus({ status: "deployed", phases: { a: { status: "failed", steps: {} } } })).toBe("failed");
    expect(serviceStatus({ status: "deployed", phases: {} })).toBe("not_deployed");
  });
});

describe("repair", () => {
  it("case 63: rebuilds a wrong project status and touches no step record", () => {
    const journal = withServices("deployed");
    const record = step("ok", { duration_ms: 77 });
    journal.services.s0 = { status: "deployed", phases: { p: { status: "ok", steps: { x: record } } } };
    journal.project.status = "failed";
    const before = JSON.stringify(journal.services.s0.phases);
    expect(repairJournal(journal, undefined)).toBe(true);
    expect(journal.project.status).toBe("deployed");
    expect(JSON.stringify(journal.services.s0?.phases)).toBe(before);
    expect(repairJournal(journal, undefined)).toBe(false);
  });
  it("case 64: rebuilds a wrong phase status from its steps, on all three levels", () => {
    const journal = withServices("deployed");
    journal.services.s0 = { status: "deployed", phases: { p: { status: "ok", steps: { x: step("failed") } } } };
    journal.project.phases.q = { status: "failed", steps: { y: step("ok") } };
    repairJournal(journal, undefined);
    expect(journal.services.s0).toMatchObject({ status: "failed", phases: { p: { status: "failed" } } });
    expect(journal.project.phases.q?.status).toBe("ok");
    expect(journal.project.status).toBe("failed");
  });
  it("case 14: a run that never ended has failed, for service and project", () => {
    const journal = emptyJournal();
    journal.project.last_run = { status: "in_progress", started_at: "a" };
    journal.services.s0 = { status: "not_deployed", last_run: { status: "in_progress", started_at: "b" }, phases: {} };
    repairJournal(journal, undefined);
    expect(journal.project.last_run.status).toBe("failed");
    expect(journal.services.s0?.last_run?.status).toBe("failed");
  });
});
