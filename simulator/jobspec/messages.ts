/** Several problems in one text, as Nomad lists them. */
export function listErrors(problems: readonly string[]): string {
  const head = problems.length === 1 ? "1 error occurred" : `${problems.length} errors occurred`;
  return `${head}:\n\t${problems.map((p) => `* ${p}`).join("\n\t")}\n\n`;
}

/** The `Warnings` of an answer: one text, "" for none. */
export function listWarnings(warnings: readonly string[]): string {
  if (warnings.length === 0) return "";
  const head = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  return `${head}:\n${warnings.map((w) => `\n* ${w.trim()}`).join("")}`;
}
