import type { Instant } from "./clock.ts";
import type { JobKey } from "./job-key.ts";
import type { JobSpec } from "./nomad.ts";
import type { Policy } from "./policy.ts";
import type { ReasonCode } from "./reasons.ts";

/** A commit as nops shows it. */
export interface Commit {
  /** 40 or 64 hex digits. */
  readonly sha: string;
  /** First line of the message. */
  readonly subject: string;
  readonly author: string;
  /** Never shown; used only to tell whether an approver wrote the commit. */
  readonly authorEmail: string;
  readonly committedAt: Instant;
}

/** Something wrong with a file, worth a person's attention. */
export interface FileIssue {
  readonly severity: "warn" | "error";
  /** Path in the repository. */
  readonly file: string;
  /** From 1; absent when the issue is not about one place. */
  readonly line?: number;
  readonly message: string;
}

/** A file that holds one job, ready for Nomad's parse (design D26–D28). */
export interface JobFile {
  /** Path in the repository. */
  readonly path: string;
  readonly format: "hcl2" | "json";
  /** Text for Nomad's parse: `file()` calls with literal arguments replaced by the commit's text. For `json` the API form, unwrapped, as JSON text. */
  readonly source: string;
  /** The file as git has it; goes into the Submission. */
  readonly original: string;
  /** Variable values in HCL syntax for Nomad's parse; empty when none. */
  readonly variables: string;
  /** The same with secret-looking values left out, for the Submission (design D28). */
  readonly publicVariables: string;
  /** Hex SHA-256 of source and variables: the key of the parse cache. */
  readonly contentHash: string;
  /** Lines of the `nops_*` keys of the job's meta, from 1; under "" that of the meta itself. Absent where the format has no lines. */
  readonly metaLines?: Readonly<Record<string, number>>;
  /** ID as far as the file tells it without evaluation. */
  readonly jobName: string | undefined;
  readonly issues: readonly FileIssue[];
}

/** The line of a key of the job's meta, or of the meta when the key is not written out. */
export function metaLineOf(file: JobFile, key: string): number | undefined {
  const lines = file.metaLines ?? {};
  return Object.hasOwn(lines, key) ? lines[key] : lines[""];
}

/** A repository at one commit: the files that hold jobs, and those that should but cannot be used. */
export interface RepositorySnapshot {
  readonly repository: string;
  readonly commit: Commit;
  readonly files: readonly JobFile[];
  /** Files that look like a job but cannot be used; each with at least one error. */
  readonly broken: readonly FileIssue[];
  /** Symlinks, submodules, oversized and unreadable entries that were passed over. */
  readonly warnings: readonly FileIssue[];
}

/** One problem with a `nops_*` key (operator §4.1). */
export interface MetaIssue {
  readonly severity: "warn" | "error";
  readonly key: string;
  readonly message: string;
}

/** A weekly or daily opening: starts where the cron expression matches and stays for the duration (design D10, D37). */
export interface WindowRule {
  readonly cron: string;
  readonly durationMs: number;
  /** IANA zone. */
  readonly timeZone: string;
}

/** What a job's annotations say (operator §4). */
export interface JobSettings {
  readonly role: "job" | "hook";
  readonly managed: boolean;
  /** As declared; `policy.ts` of `plan/` says what counts. */
  readonly policy: Policy;
  readonly preHooks: readonly string[];
  readonly postHooks: readonly string[];
  readonly notifyCompleted: boolean;
  /** For hook jobs, ms. */
  readonly hookTimeoutMs: number;
  readonly applyTimeoutMs: number | undefined;
  readonly allowWindow: WindowRule | undefined;
  readonly denyWindow: WindowRule | undefined;
  readonly dependsOn: readonly string[];
  readonly issues: readonly MetaIssue[];
}

/** A declared hook, resolved against git. */
export type DeclaredHook = {
  readonly phase: "pre" | "post";
  readonly position: number;
  readonly hookId: string;
} & (
  | { readonly usable: true; readonly spec: JobSpec; readonly hash: string; readonly timeoutMs: number }
  | { readonly usable: false; readonly problem: "missing" | "invalid"; readonly detail: string }
);

/** One job as git wants it. */
export interface DesiredJob {
  readonly key: JobKey;
  readonly repository: string;
  readonly file: string;
  readonly commit: Commit;
  readonly source: JobFile;
  /** As Nomad parsed it, before any scaling substitution; namespace filled in. */
  readonly spec: JobSpec;
  readonly settings: JobSettings;
  /** Policy after defaults, invalid keys and the namespace floor, before the rule against lowering (design D31). */
  readonly policy: Policy;
  readonly hooks: readonly DeclaredHook[];
  readonly targetHash: string;
  readonly specHash: string;
}

/** Why a job key that git declares cannot be judged now (design D4, D11, D27). */
export interface FrozenJob {
  readonly key: JobKey;
  readonly repository: string;
  readonly files: readonly string[];
  readonly reason: Extract<
    ReasonCode,
    | "file_broken"
    | "duplicate_job"
    | "not_deterministic"
    | "namespace_not_allowed"
    | "repository_unavailable"
    | "mass_removal"
    | "nomad_error"
  >;
  readonly message: string;
}

/** What git says about a job key. */
export type DesiredState =
  | { readonly kind: "managed"; readonly job: DesiredJob }
  | { readonly kind: "frozen"; readonly frozen: FrozenJob }
  /** In git, but a hook or without opt-in: never an orphan. */
  | { readonly kind: "unmanaged" }
  | { readonly kind: "absent"; readonly certain: boolean };
