/** What the server says that every reader has to know, beside what a command prints. */
import type { ApiClient } from "./api-client.ts";
import type { CommandIo } from "./io.ts";
import { printable } from "./output.ts";

/** One line each; a status that cannot be read keeps no command from its work. */
export async function printWarnings(client: ApiClient, io: CommandIo): Promise<void> {
  const status = await client.status().catch(() => undefined);
  for (const line of status?.warnings ?? []) io.err(`warning: ${printable(line)}\n`);
}
