import { NomadError } from "../../model/errors.ts";
import type { NomadClientOptions } from "../../nomad/options.ts";
import type { CommandIo } from "../io.ts";

/** Nomad as its own variables name it, for commands that need no configuration. */
export function plainNomadOptions(io: CommandIo): NomadClientOptions {
  const { environment } = io;
  return {
    address: environment["NOMAD_ADDR"] || "http://127.0.0.1:4646",
    token: environment["NOMAD_TOKEN"] || undefined,
    clock: io.clock,
    random: io.random,
    tls: {
      caFile: environment["NOMAD_CACERT"],
      certFile: environment["NOMAD_CLIENT_CERT"],
      keyFile: environment["NOMAD_CLIENT_KEY"],
      serverName: environment["NOMAD_TLS_SERVER_NAME"],
    },
  };
}

/** @throws what it is given; of a Nomad that cannot be asked, with the way to name another and the one to do without. */
export function withoutNomad(error: unknown): never {
  if (!(error instanceof NomadError)) throw error;
  const { kind, status, hint } = error;
  const own = "NOMAD_ADDR names a Nomad to ask; `nops check --offline` needs none";
  throw new NomadError(error.message, { kind, status, hint: hint === undefined ? own : `${hint}; ${own}`, cause: error });
}
