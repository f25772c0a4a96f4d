import { createHash } from "node:crypto";
import type { Allocation, AllocDeploymentStatus, Deployment, Evaluation, Job, TaskGroup } from "./types.ts";

/** Go's zero time; most answers show it as null, those about tokens as this. */
export const ZERO_TIME = "0001-01-01T00:00:00Z";

/** Milliseconds to the nanoseconds of Nomad's `…Time` fields. */
export function nanos(ms: number): number {
  return ms * 1_000_000;
}

/** Nanoseconds to milliseconds. */
export function millis(ns: number): number {
  return ns / 1_000_000;
}

/** Milliseconds since the epoch as RFC 3339. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString();
}

export function isPeriodic(job: Job): boolean {
  return job.Periodic !== null && job.Periodic !== undefined;
}

/** A child of a parameterized job carries the block too, but is a plain job. */
export function isParameterized(job: Job): boolean {
  return job.ParameterizedJob !== null && job.ParameterizedJob !== undefined && !job.Dispatched;
}

export function groupOf(job: Job | undefined, name: string): TaskGroup | undefined {
  return job?.TaskGroups.find((group) => group.Name === name);
}

export function serverTerminal(alloc: Allocation): boolean {
  return alloc.DesiredStatus === "stop" || alloc.DesiredStatus === "evict";
}

export function clientTerminal(alloc: Allocation): boolean {
  return alloc.ClientStatus === "complete" || alloc.ClientStatus === "failed" || alloc.ClientStatus === "lost";
}

export function terminal(alloc: Allocation): boolean {
  return serverTerminal(alloc) || clientTerminal(alloc);
}

/** All tasks ended, none failed. */
export function ranSuccessfully(alloc: Allocation): boolean {
  const states = Object.values(alloc.TaskStates ?? {});
  return states.length > 0 && states.every((state) => state.State === "dead" && !state.Failed);
}

export function isHealthy(status: AllocDeploymentStatus | null): boolean {
  return status?.Healthy === true;
}

export function isUnhealthy(status: AllocDeploymentStatus | null): boolean {
  return status?.Healthy === false;
}

export function deploymentActive(deployment: Deployment): boolean {
  return !["failed", "successful", "cancelled"].includes(deployment.Status);
}

/** Canaries wait for a person or for auto promotion (nomad-api §6.2). */
export function requiresPromotion(deployment: Deployment): boolean {
  return (
    deployment.Status === "running" &&
    Object.values(deployment.TaskGroups).some((group) => group.DesiredCanaries > 0 && !group.Promoted)
  );
}

export function hasAutoPromote(deployment: Deployment): boolean {
  const canaried = Object.values(deployment.TaskGroups).filter((group) => group.DesiredCanaries > 0);
  return deployment.Status === "running" && canaried.length > 0 && canaried.every((group) => group.AutoPromote);
}

export function evalTerminal(evaluation: Evaluation): boolean {
  return ["complete", "failed", "canceled"].includes(evaluation.Status);
}

/** What a server shows as the hash of a row: 32 bytes in base64, that differ when the texts do. */
export function textHash(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("base64");
}
