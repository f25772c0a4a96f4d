import type { Deployment } from "../../model/deployment.ts";
import { jobKey } from "../../model/job-key.ts";
import { judgeDrift } from "../../plan/drift.ts";
import { hasScaling, substituteCounts } from "../../plan/scaling.ts";
import type { Store } from "../../store/open.ts";
import type { SimulatedNomad } from "./nomad-port.ts";

/** Whether the live job is something else than what the deployment stores, apart from scaled counts. */
export async function differs(row: Deployment, store: Store, nomad: SimulatedNomad): Promise<boolean> {
  const { spec: stored } = await store.deploymentSpec(row.id);
  const target = { ...stored, ID: row.jobId, Namespace: row.namespace };
  const spec = hasScaling(target) ? substituteCounts(target, nomad.readJob(jobKey(row.namespace, row.jobId))) : target;
  return judgeDrift(nomad.plan(spec).diff, false) === "drift";
}
