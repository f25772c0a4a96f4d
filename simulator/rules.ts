import { type HclParser, loadHclParser } from "../hcl/parser.ts";
import { admitJob, checkJobUpdate, specChanged, validateJob } from "./jobspec/admit.ts";
import { parseJob } from "./jobspec/parse.ts";
import type { ServerJob } from "./jobspec/types.ts";
import type { JobRules } from "./operations/context.ts";
import type { Job } from "./state/types.ts";

const asServer = (job: Job): ServerJob => job as ServerJob;

let loading: Promise<HclParser> | undefined;

/** The grammar is loaded when the first file is parsed, and once. */
function parser(): Promise<HclParser> {
  loading ??= loadHclParser();
  return loading;
}

/** The rules of job files and jobs, as the pure half of the simulator has them. */
export const jobRules: JobRules = {
  parse: async (input) => parseJob(input, await parser()),
  admit: admitJob,
  validate: validateJob,
  checkUpdate: (old, next) => checkJobUpdate(old === undefined ? undefined : asServer(old), asServer(next)),
  specChanged: (old, next) => specChanged(asServer(old), asServer(next)),
};
