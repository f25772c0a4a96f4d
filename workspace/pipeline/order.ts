import type { ConfigIssue } from "../config/issues.ts";
import type { Service } from "../config/workspace.ts";

/** Where the `after` of a service stands, for messages. */
function deployFile(service: Service): string {
  return service.deploy?.file ?? `workspace/services/${service.name}/deploy.yml`;
}

/** Whether a service takes part in a deploy: it has a pipeline of its own or a job file to make one from. */
export function hasPipeline(service: Service): boolean {
  return service.deploy !== undefined || service.jobFile !== undefined;
}

/** Names of the services that a service's deploy comes after. */
export function afterOf(service: Service): readonly string[] {
  return service.deploy?.after ?? [];
}

/**
 * What is wrong with the `after` graph: references to itself, to unknown services, of a required service to an optional
 * one, and cycles (workspace §3.6). Empty when all is well.
 */
export function checkOrder(services: ReadonlyMap<string, Service>): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const service of services.values()) {
    for (const name of afterOf(service)) {
      const file = deployFile(service);
      const target = services.get(name);
      if (name === service.name) issues.push({ file, message: `after: service "${name}" refers to itself` });
      else if (target === undefined) issues.push({ file, message: `after: there is no service "${name}"` });
      else if (service.required && !target.required) {
        issues.push({ file, message: `after: "${service.name}" is required and cannot come after the optional "${name}"` });
      }
    }
  }
  const cycle = findCycle(services);
  if (cycle !== undefined) {
    const first = services.get(cycle[0] ?? "");
    issues.push({
      file: first === undefined ? "workspace/services" : deployFile(first),
      message: `after: cycle ${cycle.join(" → ")}`,
    });
  }
  return issues;
}

function findCycle(services: ReadonlyMap<string, Service>): string[] | undefined {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    const seen = path.indexOf(name);
    if (seen >= 0) return [...path.slice(seen), name];
    if (done.has(name)) return undefined;
    const service = services.get(name);
    for (const next of service === undefined ? [] : [...afterOf(service)].sort()) {
      if (next === name) continue;
      const cycle = visit(next, [...path, name]);
      if (cycle !== undefined) return cycle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of services.keys()) {
    const cycle = visit(name, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/**
 * Enabled services with a pipeline in the order of their deploy: depth-first by `after`, ties by name, then all required
 * ones before the optional ones. The graph must have passed `checkOrder`.
 */
export function deployOrder(services: ReadonlyMap<string, Service>): Service[] {
  const tracked = [...services.values()].filter((service) => service.enabled && hasPipeline(service));
  const byName = new Map(tracked.map((service) => [service.name, service]));
  const ordered: Service[] = [];
  const done = new Set<string>();
  const visit = (service: Service): void => {
    if (done.has(service.name)) return;
    done.add(service.name);
    for (const name of [...afterOf(service)].sort()) {
      const before = byName.get(name);
      if (before !== undefined) visit(before);
    }
    ordered.push(service);
  };
  for (const service of tracked.sort((a, b) => (a.name < b.name ? -1 : 1))) visit(service);
  return [...ordered.filter((service) => service.required), ...ordered.filter((service) => !service.required)];
}
