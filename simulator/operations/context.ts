import type { Clock, Random } from "../../model/clock.ts";
import type { AdmitContext, Admitted, ApiJob, Validation } from "../jobspec/types.ts";
import type { DeploymentTools } from "../scheduler/deployment-ops.ts";
import type { Engine } from "../scheduler/engine.ts";
import type { State } from "../state/state.ts";
import type { Job } from "../state/types.ts";

/** The pure half of the simulator, as the living half calls it. */
export interface JobRules {
  parse(input: { readonly hcl: string; readonly variables: string; readonly canonicalize: boolean }): Promise<ApiJob>;
  admit(job: ApiJob, context: AdmitContext): Admitted;
  validate(job: ApiJob, context: AdmitContext): Validation;
  checkUpdate(old: Job | undefined, next: Job): void;
  specChanged(old: Job, next: Job): boolean;
}

/** What operations on the cluster work with. */
export interface Operations extends DeploymentTools {
  readonly state: State;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly rules: JobRules;
  readonly region: string;
}

/** What a server knows when it judges a job. */
export function admitContext(ops: Operations, namespace: string | undefined, region: string | undefined): AdmitContext {
  return {
    region: ops.region,
    ...(region === undefined ? {} : { requestRegion: region }),
    ...(namespace === undefined ? {} : { requestNamespace: namespace }),
    namespace: (name) => ops.state.namespaces.get(name),
    nodePool: (name) => ops.state.node_pools.get(name),
    memoryOversubscription: ops.state.scheduler_config.get("")?.MemoryOversubscriptionEnabled ?? false,
    randomName: () => ops.newId().slice(0, 8),
  };
}
