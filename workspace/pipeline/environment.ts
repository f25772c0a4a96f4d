import type { Json } from "../../model/nomad.ts";
import type { Values } from "../config/values.ts";
import type { Workspace } from "../config/workspace.ts";

/** What the project puts into the environment of its steps, and into `.nops/env` (workspace §3.7, §M3). */
export function projectEnv(workspace: Workspace, values: Values): Record<string, string> {
  const env: Record<string, string> = { NOPS_PROJECT: workspace.project, NOMAD_NAMESPACE: workspace.namespace };
  if (workspace.region !== undefined) env.NOMAD_REGION = workspace.region;
  for (const [name, value] of Object.entries(values.vars())) {
    const text = scalarText(value);
    // A variable made from a secret stays in memory: the file is for every reader of the checkout.
    if (text === undefined || values.redactor.redact(text) !== text) continue;
    env[`NOPS_VAR_${name.toUpperCase()}`] = text;
  }
  return env;
}

function scalarText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** The environment as a file that shells and `--env-file` readers take. */
export function formatEnv(env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${/^[A-Za-z0-9_./:@%+,-]*$/.test(value) ? value : quoteEnv(value)}`);
  return `# Written by nops on every deploy; edit nops.workspace.yml instead.\n${lines.join("\n")}\n`;
}

function quoteEnv(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
