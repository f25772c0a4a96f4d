import type { Log } from "../../model/log.ts";
import type { NomadClientOptions, RequestObservation } from "../../nomad/options.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";

/** How the configuration says to reach Nomad. `NOMAD_TOKEN` counts when no token file is named. */
export function nomadOptions(
  config: Config,
  io: CommandIo,
  log?: Log,
  onRequest?: (observation: RequestObservation) => void,
): NomadClientOptions {
  const { nomad, engine } = config;
  const token = io.environment["NOPS_NOMAD_TOKEN"] || io.environment["NOMAD_TOKEN"];
  return {
    address: nomad.address,
    clock: io.clock,
    random: io.random,
    log,
    token: token === "" ? undefined : token,
    tokenFile: nomad.token_file,
    loginAuthMethod: nomad.login_auth_method,
    region: nomad.region,
    concurrency: engine.concurrency,
    onRequest,
    tls: {
      caFile: nomad.ca_cert,
      certFile: nomad.client_cert,
      keyFile: nomad.client_key,
      serverName: nomad.tls_server_name,
      skipVerify: nomad.tls_skip_verify,
    },
  };
}
