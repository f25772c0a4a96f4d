import { InvalidRequestError } from "../../model/errors.ts";

/** One thing wrong with a file of the workspace. */
export interface ConfigIssue {
  /** Path from the workspace root. */
  readonly file: string;
  /** From 1; absent when the issue is about the file as a whole. */
  readonly line?: number;
  readonly message: string;
}

/** `file:line: message`, the form that editors and CI logs turn into links. */
export function formatIssue(issue: ConfigIssue): string {
  return `${issue.file}${issue.line === undefined ? "" : `:${issue.line}`}: ${issue.message}`;
}

/** Every problem of a workspace at once, so that one look mends them all. Exit code 2 (contract §1). */
export class ConfigError extends InvalidRequestError {
  override readonly name = "ConfigError";
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(formatIssue).join("\n"), { code: "workspace_config" });
    this.issues = issues;
  }
}
