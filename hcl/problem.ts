import type { Diagnostic, SourceRange } from "./syntax.ts";

/** Something wrong with a file, for people. The same shape as `FileIssue` of the domain model. */
export interface FileProblem {
  readonly severity: "warn" | "error";
  /** Path in the repository. */
  readonly file: string;
  /** From 1; absent when the problem is not about one place. */
  readonly line?: number;
  readonly message: string;
}

/** A diagnostic as a problem of the file its range names, or of `file`. The place stands beside the message, not in it. */
export function problemOf(diagnostic: Diagnostic, file: string): FileProblem {
  const severity = diagnostic.severity === "error" ? "error" : "warn";
  const message = `${diagnostic.summary}; ${diagnostic.detail}`;
  if (diagnostic.range === undefined) return { severity, file, message };
  return { severity, file: diagnostic.range.filename, line: diagnostic.range.start.line, message };
}

/** A problem at a place. */
export function problemAt(range: SourceRange, message: string, severity: FileProblem["severity"] = "error"): FileProblem {
  return { severity, file: range.filename, line: range.start.line, message };
}
