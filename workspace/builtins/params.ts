import { posix } from "node:path";
import { z } from "zod";
import { parseDuration } from "../../model/duration.ts";
import { NopsError } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";

/** Pieces of parameter schemas that several builtins share. */

export const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
export const jsonMap = z.record(z.string(), json);
/** Numbers and booleans from variables serve as text. */
export const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
export const textMap = z.record(z.string(), text);

/** A duration such as `90s`, or 0; the value is in ms. */
export function duration(byDefault: string) {
  return z
    .union([z.string(), z.literal(0)])
    .default(byDefault)
    .transform((value, context) => {
      const ms = value === 0 ? 0 : parseDuration(value);
      if (ms !== undefined && ms >= 0) return ms;
      context.addIssue({ code: "custom", message: "no duration such as 90s or 1h30m" });
      return z.NEVER;
    });
}

/** A path that stays inside the project. */
export const insidePath = z
  .string()
  .min(1)
  .refine(
    (path) => !posix.isAbsolute(path) && !posix.normalize(path).split("/").includes(".."),
    "a path inside the project, without ..",
  );

/** A failure of a step whose message is all that people need. */
export function stepFailed(message: string, hint?: string): NopsError {
  return new NopsError(message, { code: "step_failed", ...(hint === undefined ? {} : { hint }) });
}
