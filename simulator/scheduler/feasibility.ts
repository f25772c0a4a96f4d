import type { Node } from "../state/cluster-types.ts";
import type { Constraint, Job, Network, TaskGroup } from "../state/types.ts";
import { constraintText, meets } from "./constraints.ts";
import { computedClass, missingDevices, missingVolumes, networkProblem } from "./node-checks.ts";

const uniqueTarget = /^\$\{((node|attr|meta)\.)?unique\./;

/** Whether constraints speak of single nodes, so that a verdict on a node's class does not hold for its other nodes. */
function escapes(constraints: readonly Constraint[]): boolean {
  return constraints.some(({ LTarget, RTarget }) => uniqueTarget.test(LTarget) || uniqueTarget.test(RTarget));
}

function constraintsOf(group: TaskGroup): Constraint[] {
  const all = [...(group.Constraints ?? [])];
  for (const task of group.Tasks) if (task.Constraints) all.push(...task.Constraints);
  return all;
}

function violated(node: Node, constraints: readonly Constraint[]): string | undefined {
  const found = constraints.find((constraint) => !meets(node, constraint));
  return found === undefined ? undefined : constraintText(found);
}

const classCache = new WeakMap<Node, string>();

/** The name that nodes share of which the same holds for every constraint that speaks of no single node. */
export function classOf(node: Node): string {
  if (node.ComputedClass !== "") return node.ComputedClass;
  let name = classCache.get(node);
  if (name === undefined) {
    name = computedClass(node);
    classCache.set(node, name);
  }
  return name;
}

/**
 * Which nodes may take the groups of a job at all. What holds for one node of a class is remembered for the others, of the job and
 * of each group apart, unless a constraint speaks of single nodes.
 */
export class Feasibility {
  readonly #job: Job;
  readonly #jobEscaped: boolean;
  #escapedGroups: ReadonlySet<string>;
  #jobClasses = new Map<string, boolean>();
  #groupClasses = new Map<string, Map<string, boolean>>();
  /** A group without a network is asked about that of the group before it: the server forgets to forget. */
  #network: Network | undefined;

  constructor(job: Job) {
    this.#job = job;
    this.#jobEscaped = escapes(job.Constraints ?? []);
    this.#escapedGroups = new Set(
      job.TaskGroups.filter(
        (group) => escapes(constraintsOf(group)) || Object.values(group.Volumes ?? {}).some(({ Type }) => Type === "csi"),
      ).map((group) => group.Name),
    );
  }

  get escaped(): boolean {
    return this.#jobEscaped || this.#escapedGroups.size > 0;
  }

  /** Classes that were looked at, and whether some group may go there. */
  get classes(): Record<string, boolean> {
    const found: Record<string, boolean> = {};
    for (const classes of this.#groupClasses.values()) {
      for (const [name, may] of classes) found[name] = may || (found[name] ?? false);
    }
    for (const [name, may] of this.#jobClasses) if (!may || found[name] === undefined) found[name] = may;
    return found;
  }

  /** Forgets what is known of classes, and which groups speak of single nodes, as schedulers of system jobs do before each node. */
  forget(): void {
    this.#escapedGroups = new Set();
    this.#jobClasses = new Map();
    this.#groupClasses = new Map();
  }

  /** To be called before the nodes for one more allocation of the group are judged. */
  begin(group: TaskGroup): void {
    this.#network = group.Networks?.[0] ?? this.#network;
  }

  /** Why a node cannot take an allocation of a group, in the words of placement failures; undefined when it can. */
  refusal(node: Node, group: TaskGroup, allocName: string): string | undefined {
    const name = classOf(node);
    const ofJob = this.#jobEscaped ? undefined : this.#jobClasses.get(name);
    if (ofJob === false) return "computed class ineligible";
    const broken = violated(node, this.#job.Constraints ?? []);
    if (!this.#jobEscaped) this.#jobClasses.set(name, broken === undefined);
    if (broken !== undefined) return broken;
    const escaped = this.#escapedGroups.has(group.Name);
    const known = escaped ? undefined : this.#groupClasses.get(group.Name)?.get(name);
    if (known === false) return "computed class ineligible";
    if (known !== true) {
      const problem = this.#groupProblem(node, group);
      if (!escaped) this.#remember(group.Name, name, problem === undefined);
      if (problem !== undefined) return problem;
    }
    return missingVolumes(node, group, allocName);
  }

  #groupProblem(node: Node, group: TaskGroup): string | undefined {
    if (group.Tasks.some((task) => !hasDriver(node, task.Driver))) return "missing drivers";
    return (
      violated(node, constraintsOf(group)) ??
      missingDevices(node, group) ??
      networkProblem(node, this.#network) ??
      missingSecrets(node, group)
    );
  }

  #remember(group: string, name: string, may: boolean): void {
    const classes = this.#groupClasses.get(group);
    if (classes === undefined) this.#groupClasses.set(group, new Map([[name, may]]));
    else classes.set(name, may);
  }
}

function hasDriver(node: Node, name: string): boolean {
  const driver = node.Drivers[name];
  if (driver !== undefined) return driver.Detected && driver.Healthy;
  return ["1", "t", "T", "true", "TRUE", "True"].includes(node.Attributes[`driver.${name}`] ?? "");
}

function missingSecrets(node: Node, group: TaskGroup): string | undefined {
  for (const task of group.Tasks) {
    for (const { Provider } of task.Secrets ?? []) {
      if (node.Attributes[`plugins.secrets.${Provider}.version`] === undefined) return "missing secrets provider";
    }
  }
  return undefined;
}
