import type { GitPort, NomadPort, StorePort } from "../../controllers/ports.ts";
import type { Gate, PortName } from "./gate.ts";
import type { SimulatedNomad } from "./nomad-port.ts";

const nomadMethods = [
  "parse",
  "plan",
  "register",
  "readJob",
  "listJobs",
  "listAllocations",
  "listEvaluations",
  "listNomadDeployments",
  "readSubmission",
  "jobVersions",
  "dispatch",
  "findDispatched",
  "stopJob",
  "promote",
  "failDeployment",
  "reschedule",
  "readLogTail",
] as const satisfies readonly (keyof NomadPort)[];

const storeMethods = [
  ...(["jobFacts", "deployment", "deploymentSpec", "frozenHooks", "hookRuns", "approvals", "commitAuthorEmail"] as const),
  ...(["activeDeployments", "completedJobs", "revisionsInUse", "deploymentAtCommit", "countAutomaticStarts"] as const),
  ...(["jobsOnRecord", "markRestored", "restoreAcceptedAt"] as const),
  ...(["create", "move", "saveVerdict", "refreshBase", "dropLift", "markUnknownRegistered", "jobFiles"] as const),
  ...(["saveJobFiles", "acceptRemovals", "acceptedRemovals", "recordRepositoryEvent"] as const),
  ...(["recordApplied", "recordPromotionWait", "recordPromoted", "recordRescheduleIntent", "ensureHookRun"] as const),
  ...(["updateHookRun", "phaseStepStartedAt", "approve", "markRetried", "recordPromotionRequest"] as const),
  ...(["recordFailRequest", "resolveHook", "pauseJob", "resumeJob", "pauseAll", "resumeAll", "requestLift"] as const),
] as const satisfies readonly (keyof StorePort)[];

/** Calls of Nomad that change something. */
export const nomadWrites: ReadonlySet<string> = new Set([
  "register",
  "dispatch",
  "stopJob",
  "promote",
  "failDeployment",
  "reschedule",
]);

/** Calls of the store that only read, or write what can be found again. */
export const storeReads: ReadonlySet<string> = new Set([
  "jobFacts",
  "deployment",
  "deploymentSpec",
  "frozenHooks",
  "hookRuns",
  "approvals",
  "commitAuthorEmail",
  "activeDeployments",
  "jobsOnRecord",
  "restoreAcceptedAt",
  "completedJobs",
  "revisionsInUse",
  "deploymentAtCommit",
  "countAutomaticStarts",
  "jobFiles",
  "acceptedRemovals",
  "phaseStepStartedAt",
  "saveVerdict",
  "saveJobFiles",
]);

/** Whether a call moves something on: a deployment, a hook, a decision, or a job in Nomad. */
export function isWrite({ port, name }: { readonly port: PortName; readonly name: string }): boolean {
  return port === "nomad" ? nomadWrites.has(name) : port === "store" && !storeReads.has(name);
}

type Methods = Readonly<Record<string, (...args: readonly never[]) => unknown>>;

/** The same methods, each behind the gate. `target` is asked at the moment of the effect, since a store may be opened anew. */
function gated<T extends object>(gate: Gate, port: PortName, names: readonly (keyof T & string)[], target: () => object): T {
  const methods = names.map((name) => [
    name,
    (...args: readonly unknown[]) =>
      gate.call(port, name, args, () => {
        const holder = target() as Methods;
        return holder[name]?.(...(args as readonly never[]));
      }),
  ]);
  return Object.fromEntries(methods) as T;
}

export function gatedNomad(gate: Gate, nomad: SimulatedNomad): NomadPort {
  return {
    ...gated<NomadPort>(gate, "nomad", nomadMethods, () => nomad),
    plan: (spec) => gate.call("nomad", "plan", [spec], () => nomad.answerPlan(spec)),
  };
}

export function gatedStore(gate: Gate, target: () => object): StorePort {
  return gated<StorePort>(gate, "store", storeMethods, target);
}

/** Signals of abort do not pass: a call that was made is on its way. */
export function gatedGit(gate: Gate, git: Pick<GitPort, "fetch">): GitPort {
  return {
    fetch: (repository, knownSha, abort) =>
      gate.call("git", "fetch", [repository, knownSha], () => git.fetch(repository, knownSha, abort)),
  };
}
