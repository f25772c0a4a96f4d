import { constraint, isConsul } from "./implied-constraints.ts";
import type { ServerJob } from "./types.ts";
import { type Rec, rec, recs, str } from "./values.ts";

/**
 * Names the identities of services and asks for clients that can handle named identities. Unlike the other implied constraints this
 * one is added each time, even if it stands there already (nomad-api §2.5).
 */
export function addImplicitIdentities(job: ServerJob): void {
  for (const group of recs(job, "TaskGroups")) {
    let named = false;
    for (const service of recs(group, "Services")) named = nameIdentity(service) || named;
    for (const task of recs(group, "Tasks")) {
      for (const service of recs(task, "Services")) named = nameIdentity(service) || named;
      named ||= recs(task, "Identities").length > 0;
    }
    if (!named) continue;
    group["Constraints"] = [...recs(group, "Constraints"), constraint("${attr.nomad.version}", "semver", ">= 1.7.0-a")];
  }
}

/** Whether the service has an identity; one in Consul gets the name that Nomad derives. */
function nameIdentity(service: Rec): boolean {
  const identity = rec(service, "Identity");
  if (identity === undefined) return false;
  if (!isConsul(service)) return true;
  const [name, task, port] = [str(service, "Name"), str(service, "TaskName"), str(service, "PortLabel")];
  identity["Name"] = `consul-service_${task === "" ? "" : `${task}-`}${name}-${port}`;
  identity["ServiceName"] = name;
  return true;
}
