import { Refusal } from "../refusal.ts";
import { bodyOf, field } from "./input.ts";
import type { ApiRequest } from "./message.ts";

export type Fields = Readonly<Record<string, unknown>>;
type Kind =
  | "algorithm"
  | "items"
  | "texts"
  | "string"
  | "bool"
  | "int"
  | "int64"
  | "uint64"
  | "bytes"
  | "strings"
  | "map"
  | Shape;

/** What the server decodes a body into: the name of the Go type, because errors tell it, and the fields that are read. */
export interface Shape {
  readonly type: string;
  readonly fields: Readonly<Record<string, Kind>>;
}

const write = { Namespace: "string", Region: "string", IdempotencyToken: "string" } as const;

export const shapes = {
  register: {
    type: "api.JobRegisterRequest",
    fields: {
      ...write,
      Submission: {
        type: "api.JobSubmission",
        fields: { Source: "string", Format: "string", VariableFlags: "strings", Variables: "string" },
      },
      EnforceIndex: "bool",
      JobModifyIndex: "uint64",
      PolicyOverride: "bool",
      PreserveCounts: "bool",
      PreserveResources: "bool",
      EvalPriority: "int",
    },
  },
  plan: { type: "api.JobPlanRequest", fields: { ...write, Diff: "bool", PolicyOverride: "bool" } },
  validate: { type: "api.JobValidateRequest", fields: write },
  parse: { type: "api.JobsParseRequest", fields: { JobHCL: "string", Variables: "string", Canonicalize: "bool" } },
  dispatch: {
    type: "structs.JobDispatchRequest",
    fields: { ...write, JobID: "string", Payload: "bytes", Meta: "strings", IdPrefixTemplate: "string", Priority: "int" },
  },
  evaluate: {
    type: "structs.JobEvaluateRequest",
    fields: { JobID: "string", EvalOptions: { type: "structs.EvalOptions", fields: { ForceReschedule: "bool" } } },
  },
  revert: {
    type: "structs.JobRevertRequest",
    fields: { JobID: "string", JobVersion: "uint64", EnforcePriorVersion: "uint64" },
  },
  stable: { type: "structs.JobStabilityRequest", fields: { JobID: "string", JobVersion: "uint64", Stable: "bool" } },
  scale: {
    type: "api.ScalingRequest",
    fields: { Count: "int64", Target: "strings", Message: "string", Error: "bool", Meta: "map", JobModifyIndex: "uint64" },
  },
  tag: { type: "api.TagVersionRequest", fields: { Version: "uint64", Latest: "bool", Description: "string" } },
  namespace: { type: "structs.Namespace", fields: { Name: "string", Description: "string", Quota: "string", Meta: "strings" } },
  nodePool: { type: "structs.NodePool", fields: { Name: "string", Description: "string", Meta: "strings" } },
  eligibility: { type: "structs.NodeUpdateEligibilityRequest", fields: { NodeID: "string", Eligibility: "string" } },
  drain: {
    type: "api.NodeUpdateDrainRequest",
    fields: {
      NodeID: "string",
      DrainSpec: { type: "api.DrainSpec", fields: { Deadline: "int64", IgnoreSystemJobs: "bool" } },
      MarkEligible: "bool",
      Meta: "strings",
    },
  },
  schedulerConfiguration: {
    type: "api.SchedulerConfiguration",
    fields: {
      SchedulerAlgorithm: "algorithm",
      PreemptionConfig: {
        type: "api.PreemptionConfig",
        fields: {
          SystemSchedulerEnabled: "bool",
          SysBatchSchedulerEnabled: "bool",
          BatchSchedulerEnabled: "bool",
          ServiceSchedulerEnabled: "bool",
        },
      },
      MemoryOversubscriptionEnabled: "bool",
      RejectJobRegistration: "bool",
      PauseEvalBroker: "bool",
    },
  },
  evalDelete: { type: "structs.EvalDeleteRequest", fields: { EvalIDs: "texts", Filter: "string" } },
  policy: {
    type: "structs.ACLPolicy",
    fields: {
      Name: "string",
      Description: "string",
      Rules: "string",
      JobACL: { type: "structs.JobACL", fields: { Namespace: "string", JobID: "string", Group: "string", Task: "string" } },
    },
  },
  bootstrap: { type: "structs.ACLTokenBootstrapRequest", fields: { BootstrapSecret: "string" } },
  token: {
    type: "structs.ACLToken",
    fields: { AccessorID: "string", SecretID: "string", Name: "string", Type: "string", Policies: "texts", Global: "bool" },
  },
  role: { type: "structs.ACLRole", fields: { ID: "string", Name: "string", Description: "string" } },
  variable: { type: "structs.VariableDecrypted", fields: { Items: "items" } },
  promote: { type: "structs.DeploymentPromoteRequest", fields: { DeploymentID: "string", All: "bool", Groups: "texts" } },
  pause: { type: "structs.DeploymentPauseRequest", fields: { DeploymentID: "string", Pause: "bool" } },
  unblock: { type: "structs.DeploymentUnblockRequest", fields: { DeploymentID: "string" } },
  health: {
    type: "structs.DeploymentAllocHealthRequest",
    fields: { DeploymentID: "string", HealthyAllocationIDs: "texts", UnhealthyAllocationIDs: "texts" },
  },
} satisfies Record<string, Shape>;

const goNames: Readonly<Record<string, string>> = {
  bytes: "[]uint8",
  strings: "map[string]string",
  algorithm: "api.SchedulerAlgorithm",
  items: "structs.VariableItems",
  map: "map[string]interface {}",
};

/**
 * The JSON object of a body, its fields in the types that the server decodes. Throws Refusal (400) in the decoder's words,
 * for the first value of another type (nomad-api §1).
 */
export function shapedBody(request: ApiRequest, shape: Shape): Fields {
  const body = bodyOf(request, shape.type);
  checkFields(body, shape, "");
  return body;
}

function checkFields(object: Fields, shape: Shape, path: string): void {
  const owner = shape.type.slice(shape.type.indexOf(".") + 1);
  for (const [name, kind] of Object.entries(shape.fields)) {
    const value = field(object, name);
    if (value !== undefined) check(value, kind, `${owner}.${path}${name}`, `${path}${name}.`);
  }
}

function check(value: unknown, kind: Kind, place: string, path: string): void {
  if (typeof kind === "object") {
    if (!isObject(value)) throw mismatch(value, place, kind.type);
    checkFields(value, kind, path);
    return;
  }
  if (kind === "int" || kind === "int64" || kind === "uint64") {
    checkNumber(value, kind, place);
    return;
  }
  if (kind === "strings" || kind === "items" || kind === "map") {
    if (!isObject(value)) throw mismatch(value, place, goNames[kind] ?? kind);
    if (kind === "map") return;
    for (const one of Object.values(value)) if (one !== null && typeof one !== "string") throw mismatch(one, place, "string");
    return;
  }
  if (kind === "texts") {
    if (!Array.isArray(value)) throw mismatch(value, place, "[]string");
    const wrong = value.find((one) => one !== null && typeof one !== "string");
    if (wrong !== undefined) throw mismatch(wrong, place, "string");
    return;
  }
  if (typeof value !== (kind === "bool" ? "boolean" : "string")) throw mismatch(value, place, goNames[kind] ?? kind);
  if (kind === "bytes") checkBase64(String(value));
}

function checkNumber(value: unknown, kind: string, place: string): void {
  if (typeof value !== "number") throw mismatch(value, place, kind);
  if (Number.isInteger(value) && (kind !== "uint64" || value >= 0)) return;
  throw new Refusal(400, `json: cannot unmarshal number ${value} into Go struct field ${place} of type ${kind}`);
}

function checkBase64(value: string): void {
  const text = value.replace(/[\r\n]/g, "");
  const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?/.exec(text)?.[0].length ?? 0;
  if (valid === text.length) return;
  const odd = text.slice(valid).search(/[^A-Za-z0-9+/]/);
  throw new Refusal(400, `illegal base64 data at input byte ${odd === -1 ? valid : valid + odd}`);
}

function isObject(value: unknown): value is Fields {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function mismatch(value: unknown, place: string, type: string): Refusal {
  return new Refusal(400, `json: cannot unmarshal ${jsonKind(value)} into Go struct field ${place} of type ${type}`);
}

/** How the decoder calls what it found. */
export function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
