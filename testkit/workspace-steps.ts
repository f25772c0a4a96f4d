/** Pipelines of shell steps for tests: each step writes its name, so that a file says what ran. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestWorkspace } from "./workspace.ts";

export const say = (name: string): string => `echo ${name} >> ran.txt`;
export const shellStep = (name: string, extra = ""): string =>
  `      - {name: ${name}, type: shell, cmd: '${say(name)}'${extra}}\n`;
export const pipeline = (phase: string, ...steps: readonly string[]): string =>
  `phases:\n  - name: ${phase}\n    steps:\n${steps.join("")}`;
export const withServices = (...phases: readonly string[]): string =>
  `phases:\n  - {name: services, deploy_services: true}\n${phases.map((phase) => phase.replace("phases:\n", "")).join("")}`;

export const twoServices = {
  "workspace/deploy.yml": withServices(pipeline("verify", shellStep("smoke"))),
  "workspace/services/a/deploy.yml": pipeline("go", shellStep("a1"), shellStep("a2")),
  "workspace/services/b/deploy.yml": pipeline("go", shellStep("b1")),
};

/** What ran since the last call. */
export function ran(workspace: TestWorkspace): string[] {
  if (!existsSync(join(workspace.root, "ran.txt"))) return [];
  const names = workspace.read("ran.txt").trim().split("\n");
  workspace.write({ "ran.txt": "" });
  return names.filter((name) => name !== "");
}

/** Message of what a promise rejects with; empty when it does not. */
export async function failure(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}
