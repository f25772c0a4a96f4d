import { apiTable } from "../../simulator/jobspec/api-tables.ts";
import type { Field, Table } from "../../simulator/jobspec/schema.ts";
import type { Rec } from "../../simulator/jobspec/values.ts";
import type { Chooser } from "./chooser.ts";
import { BY_KIND, LABELS, POOLS, WILD } from "./pools.ts";

/** How likely a block or attribute is, by `Table.hcl_name`; 1 is always. */
const LIKELY: Readonly<Record<string, number>> = {
  "Job.id": 0,
  "Job.name": 0.02,
  "Job.namespace": 0,
  "Job.region": 0.05,
  "Job.type": 1,
  "Job.node_pool": 0.1,
  "Job.group": 1,
  "Job.multiregion": 0.01,
  "TaskGroup.task": 1,
  "TaskGroup.count": 0.7,
  "TaskGroup.network": 0.6,
  "TaskGroup.service": 0.5,
  "TaskGroup.max_run_duration": 0.03,
  "Task.driver": 1,
  "Task.config": 0.9,
  "Task.env": 0.5,
  "Task.resources": 0.6,
  "Task.vault": 0.02,
  "Task.schedule": 0.02,
  "Task.kind": 0.01,
  "Task.lifecycle": 0.15,
  "Task.csi_plugin": 0.05,
  "Task.secret": 0.08,
  "Resources.numa": 0.05,
  "Resources.cores": 0.08,
  "Resources.network": 0.04,
  "Resources.memory_max": 0.15,
  "NetworkResource.reserved_ports": 0.03,
  "NetworkResource.port": 0.8,
  "Service.connect": 0.2,
  "Service.identity": 0.1,
  "ConsulConnect.gateway": 0.5,
  "ConsulConnect.sidecar_service": 0.7,
  "ConsulGateway.ingress": 0.4,
  "ConsulGateway.terminating": 0.4,
  "ConsulGateway.mesh": 0.4,
  "ConsulIngressConfigEntry.listener": 1,
  "ConsulIngressListener.port": 1,
  "ConsulIngressListener.service": 1,
  "ConsulIngressService.name": 1,
  "ConsulTerminatingConfigEntry.service": 1,
  "ConsulLinkedService.name": 1,
  "ConsulLinkedService.cert_file": 0.02,
  "ConsulLinkedService.key_file": 0.02,
  "ConsulLinkedService.sni": 0.02,
  "ConsulGatewayBindAddress.address": 1,
  "ConsulGatewayBindAddress.port": 1,
  "Constraint.attribute": 0.95,
  "Constraint.operator": 0.5,
  "Constraint.value": 0.95,
  "Affinity.attribute": 0.95,
  "Affinity.value": 0.95,
  "Spread.attribute": 0.95,
  "Template.destination": 0.98,
  "Template.data": 0.95,
  "Template.source": 0.05,
  "TaskArtifact.source": 0.97,
  "ServiceCheck.type": 0.98,
  "ServiceCheck.interval": 0.98,
  "ServiceCheck.timeout": 0.98,
  "ServiceCheck.path": 0.7,
  "VolumeRequest.type": 1,
  "VolumeRequest.source": 0.95,
  "VolumeMount.volume": 0.95,
  "VolumeMount.destination": 1,
  "ScalingPolicy.max": 0.97,
  "PeriodicConfig.cron": 0.5,
  "PeriodicConfig.crons": 0.5,
  "Secret.provider": 1,
  "Secret.path": 1,
};

/** Blocks that only some kinds of jobs may have; elsewhere they are rare. */
const ONLY_FOR: Readonly<Record<string, readonly string[]>> = {
  update: ["service", "system"],
  migrate: ["service"],
  reschedule: ["service", "batch"],
  periodic: ["batch", "sysbatch"],
  parameterized: ["batch", "sysbatch"],
  affinity: ["service", "batch", "sysbatch"],
  spread: ["service", "batch", "sysbatch"],
  disconnect: ["service", "batch"],
  scaling: ["service", "batch"],
};

export interface SampleOptions {
  readonly jobType: string;
  readonly depth: number;
  /** How often a value is drawn from those that Nomad refuses. */
  readonly wild: number;
  /** Multiplies the likelihood of everything that is not certain. */
  readonly density: number;
}

/** The likelihood of a field in an object of a table. */
function likelihood(table: Table, field: Field, options: SampleOptions): number {
  const known = LIKELY[`${table.name}.${field.hcl}`];
  const allowed = ONLY_FOR[field.hcl ?? ""];
  const foreign = allowed !== undefined && !allowed.includes(options.jobType);
  if (foreign) return options.wild;
  if (known !== undefined) return known > 0.9 ? 1 - (1 - known) * options.wild * 20 : known * options.density;
  if (field.required) return 1 - options.wild;
  return (field.place === "block" ? 0.2 : 0.25) * options.density;
}

/** A random object of the client's form that holds only what is stated. */
export function sampleObject(choose: Chooser, table: Table, options: SampleOptions): Rec {
  const object: Rec = {};
  for (const field of table.fields) {
    if (field.place === "none" || field.place === "label" || !choose.chance(likelihood(table, field, options))) continue;
    if (options.depth > 8 && field.place === "block") continue;
    object[field.name] = sampleField(choose, table, field, options);
  }
  return object;
}

/** A random value for one field. */
export function sampleField(choose: Chooser, table: Table, field: Field, options: SampleOptions): unknown {
  if (table.name === "Job" && field.hcl === "type") return options.jobType;
  const deeper = { ...options, depth: options.depth + 1 };
  const child = () => sampleObject(choose, apiTable(field.table), deeper);
  if (table.name === "Task" && field.hcl === "scaling") return [{ ...child(), Type: "vertical_cpu" }];
  switch (field.kind) {
    case "struct":
      return child();
    case "list":
      return labelled(choose, field.table, choose.chance(0.6) ? 1 : choose.int(1, 3), options.wild).map((label) => ({
        ...child(),
        ...label,
      }));
    case "structmap":
      return Object.fromEntries(
        labelled(choose, field.table, choose.int(1, 2), options.wild).map((label) => [
          label["Name"] ?? "x",
          { ...child(), ...label },
        ]),
      );
    default:
      return choose.pick(choose.chance(options.wild) ? (wildOf(table, field) ?? poolOf(table, field)) : poolOf(table, field));
  }
}

function wildOf(table: Table, field: Field): readonly unknown[] | undefined {
  const wild = WILD[`${table.name}.${field.hcl}`] ?? WILD[field.hcl ?? ""];
  return wild?.every((value) => fits(field, value)) === true ? wild : undefined;
}

function poolOf(table: Table, field: Field): readonly unknown[] {
  const known = POOLS[`${table.name}.${field.hcl}`] ?? POOLS[field.hcl ?? ""];
  if (known?.every((value) => fits(field, value)) === true) return known;
  const pool = BY_KIND[field.kind];
  if (pool === undefined) throw new Error(`no values for ${table.name}.${field.name}`);
  return pool;
}

function fits(field: Field, value: unknown): boolean {
  if (field.kind === "int" || field.kind === "duration") return typeof value === "number";
  if (field.kind === "strings" || field.kind === "ints") return Array.isArray(value);
  return field.kind === "bool" ? typeof value === "boolean" : field.kind === "string" && typeof value === "string";
}

/** Labels for that many blocks, mostly different ones. */
function labelled(choose: Chooser, table: string, count: number, wild: number): Rec[] {
  const label = apiTable(table).label;
  if (label === undefined) return Array.from({ length: count }, () => ({}));
  const names = LABELS[table] ?? ["x", "y"];
  return Array.from({ length: count }, (_, i) => ({
    [label.name]: choose.chance(wild) ? choose.pick(names) : (names[i % names.length] ?? "x"),
  }));
}
