import { resolve } from "node:path";
import type { Webhooks } from "../../api/ports.ts";
import { verifyWebhook } from "../../git/webhook/forges.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { type SecretFile, secretFile } from "./secret-file.ts";

/** Least time between two looks that calls bring about, ms: a forge must not be asked more often because deliveries are replayed (S37). */
export const leastMsBetweenLooks = 1_000;

/**
 * A valid call means one thing only: look at that repository (operator §22.7). The payload is never read, so it can name nothing.
 * `look` is told in how many ms to do so: the first call at once; those that follow within a second share one look at its end.
 */
export function createWebhooks(
  config: { readonly repositories: readonly Pick<Config["repositories"][number], "name" | "webhook_secret_file">[] },
  io: Pick<CommandIo, "workingDirectory" | "clock">,
  look: (repository: string, afterMs: number) => void,
  onSecret: (secret: string) => void,
): Webhooks {
  const looks = new Map<string, number>();
  const secrets = new Map<string, SecretFile>();
  for (const { name, webhook_secret_file: file } of config.repositories) {
    if (file !== undefined) secrets.set(name, secretFile(resolve(io.workingDirectory, file), onSecret));
  }
  return {
    receive: async (repository, headers, body) => {
      const secret = secrets.get(repository);
      if (secret === undefined) return "unknown";
      if (!verifyWebhook({ get: (name) => headers[name.toLowerCase()] ?? null }, body, secret.read())) return "refused";
      const afterMs = msUntilLook(looks, repository, io.clock.now());
      if (afterMs !== undefined) look(repository, afterMs);
      return "accepted";
    },
  };
}

/** Notes when the repository is looked at next; undefined when a look is still to come, which sees whatever this call tells of. */
function msUntilLook(looks: Map<string, number>, repository: string, now: number): number | undefined {
  const last = looks.get(repository);
  // A clock that was put back must not make a look of the past one that is to come.
  const known = last === undefined || last > now + leastMsBetweenLooks ? Number.NEGATIVE_INFINITY : last;
  if (known > now) return undefined;
  const due = Math.max(now, known + leastMsBetweenLooks);
  looks.set(repository, due);
  return due - now;
}
