import { resolve } from "node:path";
import { createGlob } from "../../model/glob.ts";
import type { Receiver } from "../../telemetry/notifier.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { secretFile } from "./secret-file.ts";

/** The receivers of the configuration. URLs come from files only, since many hold a secret (S76). */
export function receiversOf(config: Config, io: CommandIo, onSecret: (secret: string) => void): readonly Receiver[] {
  return config.notifications.map((receiver, index) => {
    const url = secretFile(resolve(io.workingDirectory, receiver.url_file), onSecret);
    const token =
      receiver.token_file === undefined ? undefined : secretFile(resolve(io.workingDirectory, receiver.token_file), onSecret);
    const namespaces = receiver.namespaces.map((pattern) => createGlob(pattern));
    const common: Pick<Receiver, "name" | "url" | "wants"> = {
      name: `${receiver.type}-${index}`,
      url: () => url.read(),
      wants: ({ kind, deployment }) =>
        receiver.events.includes(kind) &&
        (namespaces.length === 0 || namespaces.some((matches) => matches(deployment.namespace))),
    };
    if (receiver.type !== "email") return { ...common, type: receiver.type, token: () => token?.read() };
    return { ...common, type: receiver.type, from: receiver.from ?? "", to: receiver.to };
  });
}
