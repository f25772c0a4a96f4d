import { aclPolicyNames, aclPolicyRules, aclPolicySelf, aclTokenSelf } from "./acl.ts";
import { bindCalls } from "./bind.ts";
import { blockOnAllocations, blockOnEvaluations, blockOnJob, blockOnJobs, blockOnNomadDeployments } from "./blocking.ts";
import {
  agentSelf,
  deleteNamespace,
  listNamespaces,
  listNodes,
  readNamespace,
  registerNamespace,
  statusLeader,
  systemGc,
} from "./cluster.ts";
import { dispatch, findDispatched } from "./dispatch.ts";
import { forcePeriodic, purgeJob, reschedule, revertJob, scaleGroup, stopJob } from "./job-actions.ts";
import { listJobs } from "./job-lists.ts";
import { jobVersions, parse, plan, readJob, readSubmission, register, validate } from "./jobs.ts";
import { readLogTail } from "./logs.ts";
import type { NomadClientOptions } from "./options.ts";
import {
  failDeployment,
  listAllocations,
  listEvaluations,
  listNomadDeployments,
  promote,
  readEvaluation,
  readNomadDeployment,
} from "./rollout.ts";
import { createTransport } from "./transport.ts";
import { acquireLock, deleteVariable, getVariable, listVariables, putVariable, releaseLock, renewLock } from "./variables.ts";

const CALLS = {
  ...{ parse, plan, register, validate, readJob, jobVersions, readSubmission, listJobs },
  ...{ stopJob, purgeJob, reschedule, scaleGroup, revertJob, forcePeriodic, dispatch, findDispatched },
  ...{ listAllocations, listEvaluations, listNomadDeployments, readNomadDeployment, readEvaluation, promote, failDeployment },
  ...{ readLogTail, blockOnJob, blockOnJobs, blockOnAllocations, blockOnEvaluations, blockOnNomadDeployments },
  ...{ getVariable, putVariable, deleteVariable, listVariables, acquireLock, renewLock, releaseLock },
  ...{ listNamespaces, readNamespace, registerNamespace, deleteNamespace, listNodes },
  ...{ agentSelf, statusLeader, systemGc, aclTokenSelf, aclPolicySelf, aclPolicyNames, aclPolicyRules },
} as const;

/** Everything nops asks of a Nomad; satisfies the controllers' `NomadPort`. Methods need no `this`. */
export type NomadClient = ReturnType<typeof createNomadClient>;

/**
 * A client for one agent, cluster and region (design D1). Connects on the first call.
 * Every method throws `NomadError` whose kind says what the failure means, and in which no token, header or request body stands.
 * `transport` is the way to Nomad itself, which the event stream needs (watch.ts); `close` ends all connections, and calls in flight fail.
 * @throws InvalidRequestError for an address or TLS options that cannot be right.
 */
export function createNomadClient(options: NomadClientOptions) {
  const transport = createTransport(options);
  return { ...bindCalls(transport, CALLS), transport, close: () => transport.close() };
}
