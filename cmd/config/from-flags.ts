/** The configuration of a command: finds the file, then lets flags, variables, file and defaults decide. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { dataDirOf, loadConfig } from "./load.ts";
import type { Config } from "./schema.ts";

const defaultFile = "nops.yml";

/** `flags` as commander gives them: camel-cased names. @throws ConfigError, or CommandError for a file that cannot be read. */
export function configFromFlags(flags: Readonly<Record<string, unknown>>, io: CommandIo): Config {
  const file = configFile(flags["config"], io);
  return loadConfig({ environment: io.environment, flags: dashedFlags(flags), ...(file === undefined ? {} : { file }) });
}

/**
 * The data folder that `nops serve` uses with the same flags, variables and file, as written. The rest of the configuration may be
 * wrong or name files that only the server can read: none of it is looked at. @throws as `configFromFlags`, for the file as a whole.
 */
export function dataDirFromFlags(flags: { readonly dataDir?: string; readonly config?: string }, io: CommandIo): string {
  const said = flags.dataDir ?? (io.environment["NOPS_DATA_DIR"] || undefined);
  return said ?? dataDirOf(configFile(flags.config, io));
}

function configFile(flag: unknown, io: CommandIo): { readonly name: string; readonly text: string } | undefined {
  const variable = io.environment["NOPS_CONFIG"];
  const named = typeof flag === "string" ? flag : variable === "" ? undefined : variable;
  const name = named ?? defaultFile;
  try {
    return { name, text: readFileSync(resolve(io.workingDirectory, name), "utf8") };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (named === undefined && code === "ENOENT") return undefined;
    throw new CommandError(
      exitCodes.usage,
      `cannot read the configuration ${name}: ${code ?? "unknown error"}`,
      "--config or NOPS_CONFIG names it",
    );
  }
}

/** `httpListen` → `http-listen`. */
function dashedFlags(flags: Readonly<Record<string, unknown>>): Record<string, string | boolean | undefined> {
  return Object.fromEntries(
    Object.entries(flags).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "boolean"
        ? [[name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value]]
        : [],
    ),
  );
}
