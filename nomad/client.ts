import { createAcl } from "./acl.ts";
import { createBlocking } from "./blocking.ts";
import { createCluster } from "./cluster.ts";
import { createDispatch } from "./dispatch.ts";
import { createJobActions } from "./job-actions.ts";
import { createJobLists } from "./job-lists.ts";
import { createJobs } from "./jobs.ts";
import { createLogs } from "./logs.ts";
import type { NomadClientOptions } from "./options.ts";
import { createRollout } from "./rollout.ts";
import { createTransport, type NomadTransport } from "./transport.ts";
import { createVariables } from "./variables.ts";

function compose(transport: NomadTransport) {
  const jobs = createJobs(transport);
  const lists = createJobLists(transport);
  return {
    ...jobs,
    ...lists,
    ...createJobActions(transport),
    ...createRollout(transport),
    ...createDispatch(transport, { readJob: jobs.readJob, listJobs: lists.listJobs }),
    ...createLogs(transport),
    ...createBlocking(transport),
    ...createVariables(transport),
    ...createCluster(transport),
    ...createAcl(transport),
    /** The way to Nomad itself: what the event stream needs (watch.ts). */
    transport,
    /** Ends all connections; calls in flight fail. */
    close: () => transport.close(),
  };
}

/** Everything nops asks of a Nomad; satisfies the controllers' `NomadPort`. Methods need no `this`. */
export type NomadClient = ReturnType<typeof compose>;

/**
 * A client for one agent, cluster and region (design D1). Connects on the first call.
 * Every method throws `NomadError` whose kind says what the failure means, and in which no token, header or request body stands.
 * @throws InvalidRequestError for an address or TLS options that cannot be right.
 */
export function createNomadClient(options: NomadClientOptions): NomadClient {
  return compose(createTransport(options));
}
