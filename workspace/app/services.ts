import { join } from "node:path";
import { isMap, parseDocument } from "yaml";
import { toInstant } from "../../model/clock.ts";
import { InvalidRequestError, NopsError } from "../../model/errors.ts";
import { builtins } from "../builtins/registry.ts";
import { suggestion } from "../config/parse.ts";
import { paths } from "../config/paths.ts";
import type { Service } from "../config/workspace.ts";
import { readIfThere, writeAtomic } from "../journal/file.ts";
import { addPending, clearPending, everAttempted, type PendingWish } from "../journal/pending.ts";
import { expandCommand } from "../pipeline/commands.ts";
import { planDeploy } from "../pipeline/deploy.ts";
import { formatEnv, projectEnv } from "../pipeline/environment.ts";
import { hasPipeline } from "../pipeline/order.ts";
import { executeCommand } from "../run/execute.ts";
import { deployRun } from "./deploy-run.ts";
import { restartProject } from "./lifecycle.ts";
import { bothLocks, withLocks } from "./locks.ts";
import { childEnv, stepContext } from "./perform.ts";
import { openSession, type Session } from "./session.ts";

/** `nops services`: which services take part (workspace §13). */

export interface ServiceRow {
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly required: boolean;
  readonly status: string;
}

/** All services with what the journal says of them. */
export function listServices(session: Session): readonly ServiceRow[] {
  const journal = session.store.load();
  return [...session.workspace.services.values()].map(({ name, type, enabled, required }) => ({
    name,
    type,
    enabled,
    required,
    status: journal.services[name]?.status ?? "not_deployed",
  }));
}

export interface ToggleOptions {
  readonly apply: boolean;
  readonly skipHooks: boolean;
}

export interface ToggleOutcome {
  readonly service: string;
  readonly enabled: boolean;
  readonly changed: boolean;
  /** What has to follow, or was done with `--apply`. */
  readonly requires: "none" | "restart" | "deploy";
  /** Whether it was noted as pending. */
  readonly noted: boolean;
  readonly notes: string | undefined;
}

/**
 * Switches a service in `workspace/local.yml` and notes what has to follow, or does it with `apply`.
 * @throws InvalidRequestError `unknown_service`, `service_required`.
 */
export async function toggleService(
  session: Session,
  name: string,
  enabled: boolean,
  options: ToggleOptions,
): Promise<ToggleOutcome> {
  const service = serviceToToggle(session, name, enabled);
  const outcome = previewToggle(session, name, enabled);
  const wishes: PendingWish[] =
    outcome.requires === "none"
      ? []
      : [outcome.requires === "deploy" ? { kind: "deploy", services: [name] } : { kind: "restart" }];
  if (options.apply) {
    await withLocks(session.host, bothLocks, () => applyNow(session, service, enabled, wishes, options));
    return { ...outcome, noted: false };
  }
  // The journal may be written: nobody else may do so meanwhile (appendix B 12).
  const noted = await withLocks(session.host, ["deploy"], async () => {
    const now = switchOn(session, name, enabled);
    if (!outcome.changed || wishes.length === 0 || !everAttempted(now.store.load())) return false;
    return note(now, wishes);
  });
  return { ...outcome, noted };
}

/** What a switch would entail; changes nothing. */
export function previewToggle(session: Session, name: string, enabled: boolean): ToggleOutcome {
  const service = serviceToToggle(session, name, enabled);
  const requires = requiredBy(session, service, enabled);
  return {
    service: name,
    enabled,
    changed: service.enabled !== enabled,
    requires,
    noted: false,
    notes: service.definition.notes,
  };
}

function serviceToToggle(session: Session, name: string, enabled: boolean): Service {
  const service = session.workspace.services.get(name);
  if (service === undefined) {
    throw new InvalidRequestError(`there is no service "${name}"${suggestion(name, session.workspace.services.keys())}`, {
      code: "unknown_service",
    });
  }
  if (service.required && !enabled) {
    throw new InvalidRequestError(`service "${name}" is required and cannot be disabled`, { code: "service_required" });
  }
  return service;
}

function requiredBy(session: Session, service: Service, enabled: boolean): "none" | "restart" | "deploy" {
  if (!enabled) return service.definition.on_disable?.requires ?? "restart";
  // What was never deployed has nothing to restart; that is why a deploy is the default (workspace §M7).
  const wish = service.definition.on_enable?.requires ?? "deploy-or-restart";
  if (wish !== "deploy-or-restart") return wish;
  if (!hasPipeline(service)) return "none";
  return session.store.load().services[service.name]?.status === "deployed" ? "restart" : "deploy";
}

/** Writes local.yml, keeping its comments, and the environment file; returns a session of the new state. */
function switchOn(session: Session, name: string, enabled: boolean): Session {
  const path = join(session.workspace.root, paths.local);
  const document = parseDocument(readIfThere(path) ?? "");
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  document.setIn(["services", name, "enabled"], enabled);
  writeAtomic(path, document.toString());
  const now = openSession(session.host, session.store);
  writeAtomic(join(now.workspace.root, paths.env), formatEnv(projectEnv(now.workspace, now.values)));
  return now;
}

function note(session: Session, wishes: readonly PendingWish[]): boolean {
  const configHash = planDeploy(session.resolve).project.hash;
  return session.store.mutate((journal) => addPending(journal, wishes, { now: toInstant(session.host.clock.now()), configHash }));
}

async function applyNow(
  session: Session,
  service: Service,
  enabled: boolean,
  wishes: readonly PendingWish[],
  options: ToggleOptions,
): Promise<void> {
  const hooks = enabled ? service.definition.on_enable : service.definition.on_disable;
  if (!options.skipHooks) await runHooks(session, hooks?.before ?? []);
  const now = switchOn(session, service.name, enabled);
  for (const wish of wishes) {
    if (wish.kind === "deploy") {
      await deployRun(now, { service: service.name, force: false, resume: true, skipPreflight: false, inner: true });
    } else {
      await restartProject(now, { skipPreflight: false, inner: true });
    }
  }
  if (!options.skipHooks) await runHooks(now, hooks?.after ?? []);
  // Only what was done here; what others noted stays (workspace §13).
  now.store.mutate((journal) => wishes.map((wish) => clearPending(journal, wish)).some(Boolean));
}

async function runHooks(session: Session, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const command = expandCommand(session.workspace, session.values, id, {});
    if (command.kind !== "shell" && command.kind !== "script") {
      throw new NopsError(`hook ${id}: only commands of type shell and script can be hooks`, { code: "bad_hook" });
    }
    const context = stepContext(session, {
      env: childEnv(session),
      skipConfirm: true,
      signal: session.host.signal,
      identity: { actionHash: "", configHash: "", recordedAt: undefined, unchanged: false, forcedAt: undefined },
      print: (line) => session.sink({ event: "step_output", address: id, line }),
    });
    await executeCommand(command, { builtins, self: session.host.self, stdin: "ignore" }, context);
  }
}
