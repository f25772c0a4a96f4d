/** The two ways to parse a job file: by a Nomad agent, or offline by the simulator's parser (design D26). */
import type { NomadPort } from "../../controllers/ports.ts";
import { loadHclParser } from "../../hcl/parser.ts";
import { NomadError } from "../../model/errors.ts";
import type { JobSpec } from "../../model/nomad.ts";
import { parseJob } from "../../simulator/jobspec/parse.ts";

/** Parses without any server; refuses what Nomad refuses, in its words. */
export async function offlineParser(): Promise<Pick<NomadPort, "parse">> {
  const hcl = await loadHclParser();
  return {
    parse: ({ format, source, variables }) => {
      if (format === "json") return Promise.resolve(JSON.parse(source) as JobSpec);
      try {
        return Promise.resolve(parseJob({ hcl: source, variables, canonicalize: false }, hcl) as unknown as JobSpec);
      } catch (error) {
        return Promise.reject(new NomadError((error as Error).message, { kind: "refused", status: 400 }));
      }
    },
  };
}
