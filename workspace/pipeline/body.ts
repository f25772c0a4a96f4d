import { InvalidRequestError } from "../../model/errors.ts";
import { sha256 } from "../../model/hash.ts";
import type { Json } from "../../model/nomad.ts";
import type { Builtin, BuiltinInputs } from "../builtins/types.ts";
import { suggestion } from "../config/parse.ts";
import type { StepType } from "../config/schema.ts";
import { renderText, renderValue } from "../config/template.ts";
import type { Values } from "../config/values.ts";
import type { Workspace } from "../config/workspace.ts";
import { commandPrompts, expandCommand } from "./commands.ts";
import { canonicalJson, fileDigest, filesKey } from "./hashes.ts";
import type { ResolvedBody, ResolvedCommand } from "./types.ts";

/** What resolving needs. Files are read for their digests only. */
export interface ResolveContext {
  readonly workspace: Workspace;
  readonly values: Values;
  readonly builtins: ReadonlyMap<string, Builtin>;
  /** Bytes of a file by its path from the root; `undefined` when it cannot be read. */
  readonly readFile: (path: string) => Uint8Array | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Steps that nops itself places may use engine-only builtins. */
  readonly engine?: boolean;
}

export interface BodyFacts {
  readonly body: ResolvedBody;
  /** The body's `with` as it enters the hash: digests of files, environment and command added. */
  readonly hashed: Readonly<Record<string, Json>>;
  readonly shown: string;
  readonly predicate: boolean;
  readonly prompts: boolean;
  readonly needsNomad: boolean;
  readonly unresolved: readonly string[];
}

/**
 * Renders and checks what a step or its check does.
 * @throws InvalidRequestError naming step and field.
 */
export function resolveBody(
  context: ResolveContext,
  raw: { readonly type: StepType; readonly cmd: string; readonly with?: Readonly<Record<string, Json>> | null | undefined },
  where: string,
): BodyFacts {
  const scope = context.values.scope();
  const cmd = renderText(raw.cmd, scope, `${where}: cmd`);
  const parameters = renderValue({ ...raw.with }, scope, `${where}: with`);
  const given = parameters.value as Readonly<Record<string, Json>>;
  const reserved = Object.keys(given).find((key) => key.startsWith("$"));
  if (reserved !== undefined) throw bad(where, `with.${reserved}: names that begin with $ are kept for nops itself`);
  const unresolved = [...cmd.unresolved, ...parameters.unresolved];
  const { redactor } = context.values;
  if (raw.type === "builtin") {
    const facts = builtinFacts(context, cmd.value, given, where);
    return { ...facts, body: { type: raw.type, cmd: cmd.value, with: given }, shown: redactor.redact(facts.shown), unresolved };
  }
  if (raw.type === "command") {
    const command = expand(context, cmd.value, given, where);
    const facts = commandFacts(context, command, where);
    const hashed = { ...given, $command: sha256(canonicalJson(command)), ...facts.extra };
    const shown = redactor.redact([cmd.value, ...assignments(given)].join(" "));
    return { ...facts, body: { type: raw.type, cmd: cmd.value, with: given, command }, hashed, shown, unresolved };
  }
  if (Object.keys(given).length > 0) throw bad(where, `with: a step of type ${raw.type} takes no parameters`);
  return {
    body: { type: raw.type, cmd: cmd.value, with: given },
    hashed: given,
    shown: redactor.redact(cmd.value),
    predicate: false,
    prompts: false,
    needsNomad: false,
    unresolved,
  };
}

function expand(context: ResolveContext, id: string, given: Readonly<Record<string, Json>>, where: string): ResolvedCommand {
  try {
    return expandCommand(context.workspace, context.values, id, given);
  } catch (error) {
    throw error instanceof InvalidRequestError ? bad(where, error.message) : error;
  }
}

interface Facts {
  readonly hashed: Readonly<Record<string, Json>>;
  readonly shown: string;
  readonly predicate: boolean;
  readonly prompts: boolean;
  readonly needsNomad: boolean;
  readonly extra: Readonly<Record<string, Json>>;
}

function builtinFacts(context: ResolveContext, name: string, given: Readonly<Record<string, Json>>, where: string): Facts {
  const builtin = context.builtins.get(name);
  if (builtin === undefined) throw bad(where, `there is no builtin "${name}"${suggestion(name, context.builtins.keys())}`);
  if (builtin.engineOnly === true && context.engine !== true) throw bad(where, `the builtin "${name}" is placed by nops only`);
  const parsed = builtin.params.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = ["with", ...(issue?.path ?? [])].map(String).join(".");
    throw bad(where, `${at}: ${issue?.message ?? "not valid"}`);
  }
  const extra = inputDigests(context, inputsOf(context, builtin, parsed.data, where));
  const view = builtin.shown?.(parsed.data);
  const shownWith = typeof view === "object" && view !== null && !Array.isArray(view) ? (view as Record<string, Json>) : given;
  return {
    hashed: { ...given, ...extra },
    shown: [name, ...assignments(shownWith)].join(" "),
    predicate: builtin.kind !== "action",
    prompts: builtin.prompts === true,
    needsNomad: builtin.needsNomad === true,
    extra,
  };
}

function inputsOf(context: ResolveContext, builtin: Builtin, params: unknown, where: string): BuiltinInputs {
  try {
    return builtin.inputs?.(params, context.workspace) ?? {};
  } catch (error) {
    throw error instanceof InvalidRequestError ? bad(where, error.message) : error;
  }
}

/** Digests of what a builtin reads beside its parameters, under keys that no parameter can have. */
function inputDigests(context: ResolveContext, inputs: BuiltinInputs): Record<string, Json> {
  const extra: Record<string, Json> = {};
  if (inputs.files !== undefined && inputs.files.length > 0) {
    extra[filesKey] = Object.fromEntries(inputs.files.map((file) => [file, digestOf(context, file)]));
  }
  if (inputs.env !== undefined && inputs.env.length > 0) {
    extra.$env = Object.fromEntries(inputs.env.map((name) => [name, sha256(context.env[name] ?? "")]));
  }
  return extra;
}

function digestOf(context: ResolveContext, file: string): string {
  const bytes = context.readFile(file);
  return bytes === undefined ? "missing" : fileDigest(bytes);
}

function commandFacts(context: ResolveContext, command: ResolvedCommand, where: string): Facts {
  const own = ownFacts(context, command, where);
  const prompting = new Set([...context.builtins].filter(([, builtin]) => builtin.prompts === true).map(([name]) => name));
  return { ...own, prompts: commandPrompts(command, prompting) };
}

function ownFacts(context: ResolveContext, command: ResolvedCommand, where: string): Facts {
  const none = { hashed: {}, shown: command.id, predicate: false, prompts: false, needsNomad: false, extra: {} };
  switch (command.kind) {
    case "builtin":
      return builtinFacts(context, command.cmd, command.with, `${where}: command ${command.id}`);
    case "script":
      return { ...none, extra: inputDigests(context, { files: [command.path] }) };
    case "daemon": {
      const { jobFile } = command.daemon;
      return { ...none, needsNomad: true, extra: inputDigests(context, { files: jobFile === undefined ? [] : [jobFile] }) };
    }
    case "workflow": {
      const inner = command.steps.map((step) => ownFacts(context, step, where));
      const extra: Record<string, Json> = {};
      inner.forEach((facts, index) => {
        if (Object.keys(facts.extra).length > 0) extra[`$step${index}`] = facts.extra;
      });
      return { ...none, needsNomad: inner.some((facts) => facts.needsNomad), extra };
    }
    default:
      return none;
  }
}

function assignments(given: Readonly<Record<string, Json>>): string[] {
  return Object.entries(given).map(
    ([key, value]) => `${key}=${typeof value === "string" ? quote(value) : JSON.stringify(value)}`,
  );
}

function quote(text: string): string {
  return /^[^\s"'\\]+$/.test(text) ? text : JSON.stringify(text);
}

/** An error about one field of one step. */
export function bad(where: string, message: string): InvalidRequestError {
  return new InvalidRequestError(`${where}: ${message}`, { code: "workspace_config" });
}
