import { z } from "zod";
import type { Json } from "../../model/nomad.ts";

/**
 * Shapes of the workspace's files (workspace §3, §M1; contract §7). Everything is strict: an unknown key is an error.
 * Cross-field rules (unique names, groups, order) live in `rules.ts`.
 */

const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
const values = z.record(z.string(), json);
/** Names that become journal keys and parts of addresses; a slash would make an address ambiguous. */
const name = z
  .string("a name is needed")
  .regex(/^(?!__proto__$)[A-Za-z0-9_][A-Za-z0-9_.-]*$/, "a name has letters, digits, dot, hyphen and underscore, and no slash");
const durationText = z.union([z.string(), z.literal(0)], 'a duration such as "90s" or "1h30m", or 0');

export const conditionSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("builtin"), cmd: z.string() }),
  z.strictObject({ type: z.literal("shell"), cmd: z.string() }),
  z.strictObject({ type: z.literal("template"), expr: z.string() }),
]);

export const stepTypes = ["shell", "nops", "command", "builtin"] as const;
const bodyFields = { type: z.enum(stepTypes), cmd: z.string("cmd says what the step does"), with: values.nullish() };

export const filesGateSchema = z.union(
  [
    z.enum(["readable", "missing"]),
    z.strictObject({
      state: z.enum(["readable", "missing"]),
      command: z.string().optional(),
      require: z.union([z.enum(["required", "all"]), z.array(z.string()).min(1)]),
      with: values.optional(),
    }),
  ],
  "readable, missing, or {state, require, command, with}",
);

export const leafSchema = z.strictObject({
  name,
  description: z.string().optional(),
  ...bodyFields,
  when: conditionSchema.optional(),
  files_gate: filesGateSchema.optional(),
  check: z.union([z.literal("auto"), z.strictObject(bodyFields)], "auto, or {type, cmd, with}").optional(),
  continue_on_error: z.boolean().optional(),
  skip_confirm: z.boolean().optional(),
  untracked: z.boolean().optional(),
  timeout: durationText.optional(),
});

/** A group carries only what concerns its sub-steps together (workspace §3.4). */
export const groupSchema = z.strictObject({
  name,
  description: z.string().optional(),
  when: conditionSchema.optional(),
  skip_confirm: z.boolean().optional(),
  untracked: z.boolean().optional(),
  parallel: z.strictObject({
    max_concurrent: z.int().min(1).optional(),
    fail_fast: z.boolean().optional(),
    steps: z.array(z.unknown()),
  }),
});

export const phaseSchema = z.strictObject({
  name,
  description: z.string().optional(),
  when: conditionSchema.optional(),
  untracked: z.boolean().optional(),
  deploy_services: z.boolean().optional(),
  steps: z.array(z.unknown()).optional(),
});

export const pipelineSchema = z.strictObject({
  log: z.boolean().optional(),
  after: z.array(z.string()).optional(),
  phases: z.array(phaseSchema).nullish(),
});

export const lifecycleSchema = z.strictObject({
  run: z.strictObject({ log: z.boolean().optional(), phases: z.array(phaseSchema) }).optional(),
  stop: z.strictObject({ log: z.boolean().optional(), phases: z.array(phaseSchema) }).optional(),
});

const secretSource = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  "{env: VARIABLE} or {file: PATH}",
);
const key = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const workspaceSchema = z.strictObject({
  project: z
    .string("the project's name is needed")
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "lower-case letters, digits and hyphens, at most 63"),
  namespace: z.string().min(1).optional(),
  region: z.string().min(1).optional(),
  cluster: z.string().min(1).optional(),
  shell: z.string().min(1).optional(),
  vars: z.record(z.string().regex(key, "a variable is a letter followed by letters, digits, underscore"), json).nullish(),
  secrets: z.record(z.string().regex(key), secretSource).nullish(),
});

const onEnable = z.strictObject({
  requires: z.enum(["none", "restart", "deploy", "deploy-or-restart"]).optional(),
  before: z.array(z.string()).optional(),
  after: z.array(z.string()).optional(),
});
const onDisable = z.strictObject({
  requires: z.enum(["none", "restart"]).optional(),
  before: z.array(z.string()).optional(),
  after: z.array(z.string()).optional(),
});

export const serviceSchema = z.strictObject({
  type: z.enum(["app", "tool", "infra"]).optional(),
  job: z.string().min(1).optional(),
  var_files: z.array(z.string()).optional(),
  vars: values.optional(),
  namespace: z.string().min(1).optional(),
  required: z.boolean().optional(),
  enabled: z.boolean().optional(),
  depends_on: z.array(z.string()).optional(),
  dir: z.string().optional(),
  on_enable: onEnable.optional(),
  on_disable: onDisable.optional(),
  notes: z.string().optional(),
});

export const localSchema = z.strictObject({
  namespace: z.string().min(1).optional(),
  region: z.string().min(1).optional(),
  cluster: z.string().min(1).optional(),
  vars: values.nullish(),
  services: z.record(z.string(), z.strictObject({ enabled: z.boolean().optional(), vars: values.optional() })).nullish(),
});

export const snapshotSchema = z.strictObject({
  local_yml: z.strictObject({ preserve_keys: z.array(z.string()).optional() }).optional(),
  services_mismatch: z.enum(["warn", "block", "ignore"]).optional(),
  require_matching_config: z.boolean().optional(),
  create: z.strictObject({ phases: z.array(phaseSchema) }).optional(),
  restore: z.strictObject({ phases: z.array(phaseSchema) }).optional(),
});

export type WorkspaceYaml = z.infer<typeof workspaceSchema>;
export type ServiceYaml = z.infer<typeof serviceSchema>;
export type LocalYaml = z.infer<typeof localSchema>;
export type SnapshotYaml = z.infer<typeof snapshotSchema>;
export type ConditionYaml = z.infer<typeof conditionSchema>;
export type LeafYaml = z.infer<typeof leafSchema>;
export type GroupYaml = Omit<z.infer<typeof groupSchema>, "parallel"> & {
  readonly parallel: { readonly max_concurrent?: number; readonly fail_fast?: boolean; readonly steps: readonly LeafYaml[] };
};
export type StepYaml = LeafYaml | GroupYaml;
export type PhaseYaml = Omit<z.infer<typeof phaseSchema>, "steps"> & { readonly steps: readonly StepYaml[] };
export type StepType = (typeof stepTypes)[number];

/** Tells a group from a leaf. */
export function isGroup(step: StepYaml): step is GroupYaml {
  return "parallel" in step;
}
