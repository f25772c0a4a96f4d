import type { SkipReason } from "../../plan/skip.ts";

/** What a run tells while it goes on: one object each, printed as text or as JSON lines (`deploy run --json`). */
export type RunEvent =
  | {
      readonly event: "run_started";
      readonly pipeline: string;
      readonly service?: string;
      readonly total: number;
      readonly at: string;
    }
  | {
      readonly event: "phase_started";
      readonly phase: string;
      readonly service?: string;
      readonly description?: string;
      readonly at: string;
    }
  | {
      readonly event: "step_started";
      readonly address: string;
      readonly number?: number;
      readonly total: number;
      readonly description?: string;
      readonly at: string;
    }
  | { readonly event: "step_output"; readonly address: string; readonly line: string; readonly group?: string }
  | {
      readonly event: "step_finished";
      readonly address: string;
      /** Absent for untracked steps. */
      readonly number?: number;
      readonly total: number;
      readonly outcome: StepOutcome;
      /** In words, for the brackets. */
      readonly reason: string;
      readonly duration_ms: number;
      readonly error?: string;
      /** A failure that `continue_on_error` let pass. */
      readonly tolerated?: boolean;
      readonly at: string;
    }
  | { readonly event: "notice"; readonly level: "info" | "warning"; readonly message: string }
  | {
      readonly event: "run_finished";
      readonly ok: boolean;
      /** Nothing had to be done. */
      readonly up_to_date?: boolean;
      readonly counts: Counts;
      readonly duration_ms: number;
      readonly error?: string;
      readonly at: string;
    };

export type StepOutcome = "executed" | "revalidated" | "skipped" | "failed";

export interface Counts {
  executed: number;
  revalidated: number;
  skipped: number;
  failed: number;
}

export type EventSink = (event: RunEvent) => void;

/** Why a step runs or is skipped, in words. Hashes are digests; values never appear. */
export function describeReason(
  reason: SkipReason,
  facts: { readonly scope: string | undefined; readonly before: string | undefined; readonly now: string },
): string {
  switch (reason) {
    case "already_done":
      return "skipped by state";
    case "new":
      return "new";
    case "changed":
      return `re-run: hash changed ${(facts.before ?? "").slice(0, 12)} → ${facts.now.slice(0, 12)}`;
    case "config_changed":
      return `re-run: ${facts.scope === undefined ? "project" : "service"} config_hash changed`;
    case "failed_before":
      return "re-run: failed before";
    case "interrupted":
      return "re-run: interrupted before";
    case "skipped_before":
      return "skipped before, conditions hold now";
    case "revalidate":
      return "check re-validated";
    case "forced":
      return "forced";
    case "gate_decides":
      return "files_gate: missing";
  }
}
