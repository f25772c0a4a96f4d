import { type ApiJob, ParseFailure } from "./types.ts";

/** Parses a job file. Throws ParseFailure whose message is the text of the 400 answer. */
export function parseJob(_input: { hcl: string; variables: string; canonicalize: boolean }, _parser: unknown): ApiJob {
  throw new ParseFailure("not written yet");
}
