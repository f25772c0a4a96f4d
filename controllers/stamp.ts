import type { Deployment } from "../model/deployment.ts";
import type { StoredSubmission, Submission } from "../model/nomad.ts";

const deploymentFlag = "nops_deployment";
const firstLine = /^# nops: deployment=(\w+) commit=/;

/**
 * Tells Nomad's UI, a restored database, and us after a lost answer, whose deployment made the version (design D3, D34): the first line of
 * an HCL source, the variable flags of a JSON one, which takes no comment and has no variables.
 */
export function stamped(deployment: Deployment, submission: Submission): Submission {
  if (submission.format === "json")
    return { ...submission, variableFlags: { [deploymentFlag]: deployment.id, nops_commit: deployment.commitSha } };
  return { ...submission, source: `# nops: deployment=${deployment.id} commit=${deployment.commitSha}\n${submission.source}` };
}

/** The deployment that made the version, as its source says; `undefined` when nops did not make it. */
export function deploymentIn(submission: StoredSubmission | undefined): string | undefined {
  return submission?.VariableFlags?.[deploymentFlag] ?? firstLine.exec(submission?.Source ?? "")?.[1];
}
