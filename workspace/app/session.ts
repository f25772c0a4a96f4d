import { readFileSync } from "node:fs";
import { join } from "node:path";
import { builtins } from "../builtins/registry.ts";
import { loadWorkspace } from "../config/load.ts";
import { createValues, type Values } from "../config/values.ts";
import { paths, type Workspace } from "../config/workspace.ts";
import { createJournalStore, type JournalStore } from "../journal/journal.ts";
import type { ResolveContext } from "../pipeline/body.ts";
import type { EventSink, RunEvent } from "../run/events.ts";
import type { Host } from "./host.ts";

/** A loaded workspace with what every command needs of it. */
export interface Session {
  readonly host: Host;
  readonly workspace: Workspace;
  readonly values: Values;
  readonly store: JournalStore;
  readonly resolve: ResolveContext & { readonly parallelism: number };
  /** The host's sink behind the redactor. */
  readonly sink: EventSink;
  readonly notice: (message: string, level?: "info" | "warning") => void;
}

/** Loads the workspace. @throws ConfigError with every mistake of every file. */
export function openSession(host: Host, store: JournalStore = createJournalStore(join(host.root, paths.state))): Session {
  const workspace = loadWorkspace(host.root);
  const values = createValues(workspace, { env: host.env, host: host.facts });
  const sink: EventSink = (event) => host.sink(redactEvent(event, values.redactor.redact));
  const readFile = (path: string): Uint8Array | undefined => {
    try {
      return readFileSync(join(host.root, path));
    } catch {
      return undefined;
    }
  };
  return {
    host: { ...host, nomad: () => host.nomad(workspace.region) },
    workspace,
    values,
    store,
    resolve: { workspace, values, builtins, readFile, env: host.env, parallelism: host.parallelism },
    sink,
    notice: (message, level = "info") => sink({ event: "notice", level, message }),
  };
}

/** Hides secrets in whatever an event says (design D25). */
export function redactEvent(event: RunEvent, redact: (text: string) => string): RunEvent {
  switch (event.event) {
    case "step_output":
      return { ...event, line: redact(event.line) };
    case "step_finished":
      return { ...event, reason: redact(event.reason), ...(event.error === undefined ? {} : { error: redact(event.error) }) };
    case "notice":
      return { ...event, message: redact(event.message) };
    case "run_finished":
      return event.error === undefined ? event : { ...event, error: redact(event.error) };
    default:
      return event;
  }
}
