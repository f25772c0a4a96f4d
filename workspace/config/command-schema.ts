import { z } from "zod";
import type { Json } from "../../model/nomad.ts";

/** Shapes of `workspace/commands/**.yml`: named commands that steps and people call (workspace §4, §M6). */

const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
const values = z.record(z.string(), json);

const parameter = z.strictObject({
  default: json.optional(),
  required: z.boolean().optional(),
  description: z.string().optional(),
});
const declaredFile = z.strictObject({
  path: z.string().min(1),
  mode: z.enum(["read", "write"]).optional(),
  required: z.boolean().optional(),
});
const common = {
  description: z.string().optional(),
  params: z.record(z.string(), parameter.nullable()).optional(),
  confirm: z.string().optional(),
  files: z.record(z.string(), declaredFile).optional(),
};

export const commandSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("shell"), cmd: z.string(), ...common }),
  z.strictObject({ type: z.literal("nops"), cmd: z.string(), ...common }),
  z.strictObject({ type: z.literal("script"), path: z.string(), args: z.array(z.string()).optional(), ...common }),
  z.strictObject({ type: z.literal("builtin"), cmd: z.string(), with: values.optional(), ...common }),
  z.strictObject({
    type: z.literal("workflow"),
    steps: z.array(z.strictObject({ command: z.string(), with: values.optional() })).min(1),
    ...common,
  }),
  z.strictObject({
    type: z.literal("daemon"),
    name: z.string(),
    job: z.string().optional(),
    task: z
      .strictObject({
        driver: z.string(),
        config: values,
        env: z.record(z.string(), z.string()).optional(),
        resources: values.optional(),
      })
      .optional(),
    dispatch: z.boolean().optional(),
    on_already_running: z.enum(["error", "noop"]).optional(),
    auto_remove: z.boolean().optional(),
    stop_timeout: z.string().optional(),
    ...common,
  }),
]);

export const commandFileSchema = z.strictObject({ commands: z.record(z.string(), commandSchema) });

export type CommandYaml = z.infer<typeof commandSchema>;
export type DaemonYaml = Extract<CommandYaml, { type: "daemon" }>;
