import type { HttpsOptions } from "got";
import { InvalidRequestError } from "../model/errors.ts";
import type { NomadClientOptions } from "./options.ts";
import { unreadableFile, type WatchedFile, watchFile } from "./watched-file.ts";

/**
 * Gives the TLS part of a request; files are read again when they change, so a renewed certificate needs no restart.
 * @throws InvalidRequestError `bad_nomad_tls` when only one of certificate and key is set.
 */
export function createTls(options: Pick<NomadClientOptions, "tls" | "files">): () => Promise<HttpsOptions | undefined> {
  const tls = options.tls ?? {};
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    throw new InvalidRequestError("Nomad client certificate and key must both be set", {
      code: "bad_nomad_tls",
      hint: "set NOMAD_CLIENT_CERT and NOMAD_CLIENT_KEY",
    });
  }
  const watched = (path: string | undefined): WatchedFile | undefined =>
    path === undefined ? undefined : watchFile(path, options.files);
  const ca = watched(tls.caFile);
  const cert = watched(tls.certFile);
  const key = watched(tls.keyFile);
  return async () => ({
    // Set on purpose each time: a process-wide NODE_TLS_REJECT_UNAUTHORIZED=0 must not weaken this client (S74).
    rejectUnauthorized: tls.skipVerify !== true,
    minVersion: "TLSv1.2",
    ...(tls.serverName === undefined ? {} : { serverName: tls.serverName }),
    ...(ca === undefined ? {} : { certificateAuthority: await text(ca, "CA", tls.caFile) }),
    ...(cert === undefined ? {} : { certificate: await text(cert, "certificate", tls.certFile) }),
    ...(key === undefined ? {} : { key: await text(key, "key", tls.keyFile) }),
  });
}

async function text(file: WatchedFile, what: string, path: string | undefined): Promise<string> {
  try {
    return await file.text();
  } catch (error) {
    throw unreadableFile(what, path ?? "", error);
  }
}
