import { resolve } from "node:path";
import type { Webhooks } from "../../api/ports.ts";
import { verifyWebhook } from "../../git/webhook/forges.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { type SecretFile, secretFile } from "./secret-file.ts";

/**
 * A valid call means one thing only: look at that repository (operator §22.7). The payload is never read, so it can name nothing;
 * repeated calls meet in the queue as one look.
 */
export function createWebhooks(
  config: Config,
  io: CommandIo,
  look: (repository: string) => void,
  onSecret: (secret: string) => void,
): Webhooks {
  const secrets = new Map<string, SecretFile>();
  for (const { name, webhook_secret_file: file } of config.repositories) {
    if (file !== undefined) secrets.set(name, secretFile(resolve(io.workingDirectory, file), onSecret));
  }
  return {
    receive: async (repository, headers, body) => {
      const secret = secrets.get(repository);
      if (secret === undefined) return "unknown";
      if (!verifyWebhook({ get: (name) => headers[name.toLowerCase()] ?? null }, body, secret.read())) return "refused";
      look(repository);
      return "accepted";
    },
  };
}
