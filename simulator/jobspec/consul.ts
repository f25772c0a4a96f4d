import { constraint } from "./implied-constraints.ts";
import type { ServerJob } from "./types.ts";
import { type Rec, rec, recs, str } from "./values.ts";

/** Names the default Consul cluster where none is named, and ties groups and tasks to their admin partition (nomad-api §2.5). */
export function addConsulDefaults(job: ServerJob): void {
  for (const group of recs(job, "TaskGroups")) {
    addPartition(group);
    for (const task of recs(group, "Tasks")) addPartition(task);
  }
}

function addPartition(holder: Rec): void {
  const consul = rec(holder, "Consul");
  if (consul === undefined) return;
  if (str(consul, "Cluster") === "") consul["Cluster"] = "default";
  const [cluster, partition] = [str(consul, "Cluster"), str(consul, "Partition")];
  if (partition === "") return;
  const attribute = cluster === "default" ? "${attr.consul.partition}" : `\${attr.consul.${cluster}.partition}`;
  holder["Constraints"] = [...recs(holder, "Constraints"), constraint(attribute, "=", partition)];
}

/** The free edition knows one Consul only. The text of the first problem, or undefined. */
export function consulProblem(job: ServerJob): string | undefined {
  for (const group of recs(job, "TaskGroups")) {
    const consul = rec(group, "Consul");
    if (isForeign(consul)) return FOREIGN;
    if (recs(group, "Services").some(inForeignCluster)) return FOREIGN;
    for (const task of recs(group, "Tasks")) {
      if (recs(task, "Services").some(inForeignCluster)) return FOREIGN;
      const own = rec(task, "Consul");
      const [groupPartition, taskPartition] = [str(consul, "Partition"), str(own, "Partition")];
      if (taskPartition !== "" && groupPartition !== "" && taskPartition !== groupPartition) {
        return `task.consul.partition "${taskPartition}" must match group.consul.partition "${groupPartition}" if both are set`;
      }
      if (isForeign(own)) return FOREIGN;
    }
  }
  return undefined;
}

const FOREIGN = "non-default Consul cluster requires Nomad Enterprise";

function isForeign(consul: Rec | undefined): boolean {
  return consul !== undefined && str(consul, "Cluster") !== "default";
}

function inForeignCluster(service: Rec): boolean {
  return str(service, "Provider") === "consul" && str(service, "Cluster") !== "default";
}
