/** Pieces of which every section of the configuration is made. */
import { z } from "zod";

/** Text; empty counts as absent. */
export const optionalText = z
  .string()
  .nullish()
  .transform((value) => (value === "" || value === null ? undefined : value));

export const textList = z.array(z.string());
