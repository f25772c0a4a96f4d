import { NomadError } from "../model/errors.ts";

/**
 * Turns "there is no such object" into `undefined`. Only Nomad's own words count: a 404 of something else on the way
 * (a proxy, a wrong address) must never pass for an absent job.
 */
export async function orUndefined<T>(call: Promise<T>, words: string): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NomadError && error.kind === "not_found" && error.message.includes(words)) return undefined;
    throw error;
  }
}
