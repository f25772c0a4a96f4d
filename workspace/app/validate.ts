import { InvalidRequestError } from "../../model/errors.ts";
import { ConfigError, type ConfigIssue } from "../config/issues.ts";
import { paths } from "../config/paths.ts";
import { expandCommand } from "../pipeline/commands.ts";
import { planDeploy, servicePhases } from "../pipeline/deploy.ts";
import { resolvePipeline } from "../pipeline/resolve.ts";
import { stepsOf } from "../pipeline/types.ts";
import { planLifecycle } from "./lifecycle.ts";
import { planReset } from "./reset.ts";
import type { Session } from "./session.ts";

export interface ValidateSummary {
  readonly services: number;
  readonly steps: number;
  /** Files that say nothing, so that a built-in pipeline counts. */
  readonly inert: readonly string[];
}

/**
 * Resolves every pipeline of the workspace, those of disabled services too.
 * @throws ConfigError with what is wrong anywhere.
 */
export function validateWorkspace(session: Session): ValidateSummary {
  const issues: ConfigIssue[] = [];
  const attempt = <T>(work: () => T, file: string = paths.config): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (error instanceof ConfigError) issues.push(...error.issues);
      else if (error instanceof InvalidRequestError) issues.push({ file, message: error.message });
      else throw error;
      return undefined;
    }
  };
  const deploy = attempt(() => planDeploy(session.resolve));
  attempt(() => planReset(session, undefined));
  attempt(() => planLifecycle(session));
  for (const service of session.workspace.services.values()) {
    if (!service.enabled && service.deploy !== undefined) {
      attempt(() => resolvePipeline(session.resolve, { name: "deploy", log: false, phases: servicePhases(service) }));
    }
    if (service.reset !== undefined) attempt(() => planReset(session, service.name));
  }
  for (const [id, command] of session.workspace.commands) {
    if (command.type === "workflow" && Object.keys(command.params ?? {}).length === 0) {
      attempt(() => expandCommand(session.workspace, session.values, id, {}), paths.commands);
    }
  }
  if (issues.length > 0) throw new ConfigError(unique(issues));
  return {
    services: session.workspace.services.size,
    steps: deploy === undefined ? 0 : stepsOf(deploy.plan).length,
    inert: session.workspace.inert.map(({ file }) => file),
  };
}

function unique(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}
