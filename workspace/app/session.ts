import { readFileSync } from "node:fs";
import { join } from "node:path";
import { builtins } from "../builtins/registry.ts";
import { loadWorkspace } from "../config/load.ts";
import { paths } from "../config/paths.ts";
import { createValues, type Values } from "../config/values.ts";
import type { Workspace } from "../config/workspace.ts";
import { createJournalStore, type JournalStore } from "../journal/journal.ts";
import type { ResolveContext } from "../pipeline/body.ts";
import type { EventSink, RunEvent } from "../run/events.ts";
import type { Host } from "./host.ts";
import type { PlanInputs } from "./unchanged.ts";

/** A loaded workspace with what every command needs of it. */
export interface Session {
  readonly host: Host;
  readonly workspace: Workspace;
  readonly values: Values;
  readonly store: JournalStore;
  readonly resolve: ResolveContext & { readonly parallelism: number };
  /** What planning looked at so far, beside the workspace's own files. */
  readonly planInputs: () => PlanInputs;
  /** When loading began, ms since the epoch. */
  readonly readAt: number;
  /** The host's sink behind the redactor. */
  readonly sink: EventSink;
  readonly notice: (message: string, level?: "info" | "warning") => void;
}

/** Loads the workspace. @throws ConfigError with every mistake of every file. */
export function openSession(host: Host, store: JournalStore = createJournalStore(join(host.root, paths.state))): Session {
  const readAt = host.clock.now();
  const workspace = loadWorkspace(host.root);
  const files = new Set<string>();
  const looked = new Set<string>();
  const env = watched(host.env, looked);
  const values = createValues(workspace, { env, host: host.facts, onRead: (file) => files.add(file) });
  const sink: EventSink = (event) => host.sink(redactEvent(event, values.redactor.redact));
  const readFile = (path: string): Uint8Array | undefined => {
    files.add(path);
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
    resolve: { workspace, values, builtins, readFile, env, parallelism: host.parallelism },
    planInputs: () => ({ files: [...files], env: [...looked] }),
    readAt,
    sink,
    notice: (message, level = "info") => sink({ event: "notice", level, message }),
  };
}

/** The environment, with a note of every name that is looked up. */
function watched(env: Host["env"], looked: Set<string>): Host["env"] {
  return new Proxy(env, {
    get(target, name, receiver) {
      if (typeof name === "string") looked.add(name);
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
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
