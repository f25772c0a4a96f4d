/** The deployment that a person means by an ID, by its beginning, or by the name of its job. */
import type { ApiClient } from "./api-client.ts";
import { type ClientFlags, jobFor } from "./client-options.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import type { CommandIo } from "./io.ts";

const whole = /^[0-9A-HJKMNP-TV-Z]{26}$/;
/** IDs of this century begin so; names of jobs hardly do. */
const beginning = /^01[0-9A-HJKMNP-TV-Z]{4,}$/;
const newest = 200;

/**
 * A whole ID is taken as it is. A beginning has to fit one of the newest deployments and no other. Anything else is a job (`web`,
 * `apps/web`), whose newest deployment is meant.
 * @throws CommandError when nothing or more than one deployment fits.
 */
export async function deploymentIdFor(text: string, client: ApiClient, flags: ClientFlags, io: CommandIo): Promise<string> {
  if (whole.test(text)) return text;
  if (beginning.test(text)) {
    const { deployments } = await client.deployments({ limit: String(newest) });
    const fitting = deployments.filter(({ id }) => id.startsWith(text));
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1) return only.id;
    throw fitting.length === 0
      ? new CommandError(exitCodes.notFound, `none of the ${newest} newest deployments begins with ${text}`, "nops deployments")
      : new CommandError(exitCodes.usage, `${text} begins ${fitting.length} deployments`, "write more of the ID");
  }
  const key = jobFor(text, flags, io);
  const { last_deployment: last } = await client.job(key);
  if (last !== null) return last.id;
  throw new CommandError(exitCodes.notFound, `${key} has no deployment yet`, `nops explain ${key} says why`);
}
