import { resolveTarget } from "../scheduler/constraints.ts";
import { indexOfName } from "../scheduler/names.ts";
import type { Node } from "../state/cluster-types.ts";
import type { Allocation, Task, TaskGroup } from "../state/types.ts";

/** The environment a task would see: Nomad's own variables, meta of job, group and task, and the task's `env`. */
export function taskEnv(alloc: Allocation, group: TaskGroup, task: Task, node: Node | undefined): Record<string, string> {
  const env: Record<string, string> = {
    NOMAD_ALLOC_ID: alloc.ID,
    NOMAD_SHORT_ALLOC_ID: alloc.ID.slice(0, 8),
    NOMAD_ALLOC_INDEX: String(indexOfName(alloc)),
    NOMAD_ALLOC_NAME: alloc.Name,
    NOMAD_ALLOC_DIR: "/alloc",
    NOMAD_TASK_DIR: "/local",
    NOMAD_SECRETS_DIR: "/secrets",
    NOMAD_TASK_NAME: task.Name,
    NOMAD_GROUP_NAME: group.Name,
    NOMAD_JOB_ID: alloc.Job.ID,
    NOMAD_JOB_NAME: alloc.Job.Name,
    NOMAD_NAMESPACE: alloc.Namespace,
    NOMAD_REGION: alloc.Job.Region,
    NOMAD_DC: node?.Datacenter ?? "",
    NOMAD_CPU_LIMIT: String(task.Resources.CPU),
    NOMAD_MEMORY_LIMIT: String(task.Resources.MemoryMB),
    ...(alloc.Job.ParentID === "" ? {} : { NOMAD_JOB_PARENT_ID: alloc.Job.ParentID }),
  };
  for (const port of alloc.AllocatedResources?.Shared.Ports ?? []) {
    env[`NOMAD_PORT_${port.Label}`] = String(port.To > 0 ? port.To : port.Value);
    env[`NOMAD_HOST_PORT_${port.Label}`] = String(port.Value);
    env[`NOMAD_IP_${port.Label}`] = port.HostIP;
    env[`NOMAD_ADDR_${port.Label}`] = `${port.HostIP}:${port.Value}`;
  }
  for (const meta of [alloc.Job.Meta, group.Meta, task.Meta]) {
    for (const [name, value] of Object.entries(meta ?? {})) {
      const clean = name.replace(/[^A-Za-z0-9_]/g, "_");
      env[`NOMAD_META_${clean}`] = value;
      env[`NOMAD_META_${clean.toUpperCase()}`] = value;
    }
  }
  const known = { ...env };
  for (const [name, value] of Object.entries(task.Env ?? {})) {
    env[name] = value.replace(/\$\{([^}]+)\}/g, (whole, path: string) => {
      if (path.startsWith("env[")) return known[path.slice(5, -2)] ?? "";
      return known[path] ?? (node === undefined ? undefined : resolveTarget(whole, node)) ?? "";
    });
  }
  return env;
}
