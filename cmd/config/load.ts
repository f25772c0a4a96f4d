/** Reads the configuration from defaults, file, environment and flags (contract §2): flag beats variable beats file beats default. */
import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { NopsError } from "../../model/errors.ts";
import { checkAuth } from "./auth-checks.ts";
import { type ScalarKind, type ScalarOption, scalarOptions } from "./options.ts";
import { type Config, configSchema, noRepository } from "./schema.ts";
import { closest } from "./suggest.ts";

/** One thing wrong with the configuration. `source` is `nops.yml:12:5`, a variable or a flag. */
export interface ConfigProblem {
  readonly source: string;
  readonly key: string;
  readonly message: string;
}

/** Every problem at once; nothing starts with a configuration that has one. */
export class ConfigError extends NopsError {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ source, key, message }) => `${source}${key === "" ? "" : ` ${key}`}: ${message}`).join("\n"), {
      code: "invalid_configuration",
      hint: "nops serve --help lists every key; docs/configuration.md explains them",
    });
    this.problems = problems;
  }
}

export interface ConfigInput {
  /** The file's name as it is shown, and its text; absent when there is none. */
  readonly file?: { readonly name: string; readonly text: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Flags as typed, without dashes in front: `http-listen` → value. `true` for a bare flag. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

// A larger file is a mistake, and YAML's uniqueness check is quadratic (reliability §0.9).
const maxFileBytes = 256 * 1024;

type Path = readonly (string | number)[];

/** @throws ConfigError with every problem found. */
export function loadConfig(input: ConfigInput): Config {
  const problems: ConfigProblem[] = [];
  const file = readFileLayer(input.file, problems);
  // What cannot be read says nothing about what is missing in it.
  if (problems.length > 0) throw new ConfigError(problems);
  const values = structuredClone(file.values) as Record<string, unknown>;
  const sources = new Map<string, string>();
  const options = scalarOptions();
  for (const option of options) applyOption(option, input, values, sources, problems);
  nameSingleRepository(values);
  const parsed = configSchema.safeParse(values);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(...explain(issue, values, sources, file, options));
  }
  if (parsed.success) problems.push(...crossChecks(parsed.data, (path) => sourceOf(path, sources, file)));
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return deepFreeze(parsed.data);
}

/** The file's `data_dir`, or its default. @throws ConfigError when the file is no YAML or the key holds no text. */
export function dataDirOf(file: ConfigInput["file"]): string {
  const problems: ConfigProblem[] = [];
  const layer = readFileLayer(file, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const key = configSchema.shape.data_dir;
  const value = key.safeParse((layer.values as Readonly<Record<string, unknown>>)["data_dir"]);
  if (value.success) return value.data;
  const source = layer.positionOf(["data_dir"]) ?? layer.name;
  throw new ConfigError(value.error.issues.map(({ message }) => ({ source, key: "data_dir", message })));
}

interface FileLayer {
  readonly values: unknown;
  readonly name: string;
  positionOf(path: Path): string | undefined;
}

function readFileLayer(file: ConfigInput["file"], problems: ConfigProblem[]): FileLayer {
  const none: FileLayer = { values: {}, name: "configuration", positionOf: () => undefined };
  if (file === undefined) return none;
  if (Buffer.byteLength(file.text) > maxFileBytes) {
    problems.push({ source: file.name, key: "", message: `is larger than ${maxFileBytes / 1024} KiB` });
    return none;
  }
  const lines = new LineCounter();
  const document = parseDocument(file.text, {
    lineCounter: lines,
    merge: false,
    maxAliasCount: 50,
    prettyErrors: false,
  } as never);
  for (const error of [...document.errors, ...document.warnings]) {
    const { line, col } = lines.linePos(error.pos[0]);
    problems.push({ source: `${file.name}:${line}:${col}`, key: "", message: error.message });
  }
  const forbidden = document.errors.length > 0 ? undefined : plainValues(document, file.name, problems);
  return {
    values: forbidden ?? {},
    name: file.name,
    positionOf: (path) => position(document, lines, file.name, path),
  };
}

function plainValues(document: Document, fileName: string, problems: ConfigProblem[]): unknown {
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: 50 }) ?? {};
  } catch (error) {
    problems.push({ source: fileName, key: "", message: error instanceof Error ? error.message : "cannot be read" });
    return undefined;
  }
  if (typeof values !== "object" || Array.isArray(values)) {
    problems.push({ source: `${fileName}:1:1`, key: "", message: "must hold keys and values" });
    return undefined;
  }
  return values;
}

function position(document: Document, lines: LineCounter, fileName: string, path: Path): string | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = keyNode(document, path.slice(0, length));
    const offset = node?.range?.[0];
    if (offset !== undefined) {
      const { line, col } = lines.linePos(offset);
      return `${fileName}:${line}:${col}`;
    }
  }
  return undefined;
}

/** The node of a key itself, since that is what a person looks for; the value's node inside lists. */
function keyNode(document: Document, path: Path): { range?: readonly number[] | null } | undefined {
  const last = path.at(-1);
  const parent = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true);
  const whole = path.length === 1 ? document.contents : parent;
  if (typeof last === "string" && isMap(whole)) {
    const pair = whole.items.find((item) => isScalar(item.key) && item.key.value === last);
    return pair !== undefined && isScalar(pair.key) ? (pair.key as { range?: readonly number[] | null }) : undefined;
  }
  return path.length === 0 ? undefined : (document.getIn(path, true) as { range?: readonly number[] | null } | undefined);
}

function applyOption(
  option: ScalarOption,
  input: ConfigInput,
  values: Record<string, unknown>,
  sources: Map<string, string>,
  problems: ConfigProblem[],
): void {
  const flag = option.flags.find((name) => input.flags[name.slice(2)] !== undefined);
  // An empty variable counts as unset, an empty flag as a value.
  const variable = option.variables.find((name) => (input.environment[name] ?? "") !== "");
  const source = flag ?? variable;
  if (source === undefined) return;
  const raw = flag === undefined ? input.environment[source] : input.flags[flag.slice(2)];
  const value = convert(raw ?? "", option.kind);
  if (value === undefined) {
    problems.push({
      source,
      key: "",
      message: `must be ${option.kind === "boolean" ? "true or false" : "a whole number"}, not "${String(raw)}"`,
    });
    return;
  }
  setIn(values, option.path, value);
  sources.set(option.path.join("."), source);
}

function convert(raw: string | boolean, kind: ScalarKind): unknown {
  const textValue = String(raw);
  switch (kind) {
    case "text":
      return textValue;
    case "list":
      return textValue
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
    case "number":
      return /^-?\d+$/.test(textValue) ? Number(textValue) : undefined;
    case "boolean":
      if (/^(true|1|t|yes)$/i.test(textValue)) return true;
      return /^(false|0|f|no)$/i.test(textValue) ? false : undefined;
  }
}

function setIn(target: Record<string, unknown>, path: Path, value: unknown): void {
  let at: Record<string, unknown> | unknown[] = target;
  path.forEach((key, index) => {
    if (index === path.length - 1) {
      (at as Record<string | number, unknown>)[key] = value;
      return;
    }
    const slot = at as Record<string | number, unknown>;
    const present = Object.hasOwn(slot, key) ? slot[key] : undefined;
    if (typeof present !== "object" || present === null) slot[key] = typeof path[index + 1] === "number" ? [] : {};
    at = slot[key] as Record<string, unknown>;
  });
}

/** The one-repository short form needs no name. */
function nameSingleRepository(values: Record<string, unknown>): void {
  const list = values["repositories"];
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  if (Array.isArray(list) && list.length === 1 && typeof first === "object" && first !== null && !("name" in first)) {
    (first as Record<string, unknown>)["name"] = "main";
  }
}

function explain(
  issue: z.core.$ZodIssue,
  values: unknown,
  sources: Map<string, string>,
  file: FileLayer,
  options: readonly ScalarOption[],
): ConfigProblem[] {
  const path = issue.path as Path;
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(path, options);
    return issue.keys.map((key) => {
      const suggestion = closest(key, known);
      const message = `unknown key${suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`}`;
      return { source: sourceOf([...path, key], sources, file), key: [...path, key].join("."), message };
    });
  }
  const present = valueAt(values, path) !== undefined;
  const missing = path[0] === "repositories" && path.length === 1 ? noRepository : "is required";
  const message = issue.code === "invalid_type" && !present ? missing : plainMessage(issue, path, options);
  return [{ source: sourceOf(path, sources, file), key: path.join("."), message }];
}

function plainMessage(issue: z.core.$ZodIssue, path: Path, options: readonly ScalarOption[]): string {
  const key = path.map((part) => (typeof part === "number" ? 0 : part)).join(".");
  const isDuration = options.some((option) => option.allowed === "duration" && option.path.join(".") === key);
  return issue.message
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, (_, expected: string, received: string) =>
      isDuration ? `must be a duration such as "90s" or "1h30m", not a ${received}` : `must be a ${expected}, not a ${received}`,
    )
    .replace(/^Invalid option: expected /, "must be ");
}

function knownKeys(path: Path, options: readonly ScalarOption[]): string[] {
  const sections = [
    "data_dir",
    "nomad",
    "repositories",
    "http",
    "auth",
    "approval",
    "engine",
    "windows",
    "notifications",
    "retention",
    "log",
  ];
  if (path.length === 0) return sections;
  const depth = path.length;
  const prefix = path.map((part) => (typeof part === "number" ? 0 : part)).join(".");
  const inRule = path[0] === "auth" && path[1] === "rules" && depth === 3;
  if (inRule) return ["users", "groups", "nomad_policies", "capabilities", "namespaces"];
  const below = options
    .filter((option) => option.path.length > depth && option.path.slice(0, depth).join(".") === prefix)
    .map((option) => String(option.path[depth]));
  return [
    ...below,
    ...(path[0] === "repositories" ? ["name", "variables"] : []),
    ...(path[0] === "approval" ? ["min_policy"] : []),
    ...(path[0] === "auth" && depth === 1 ? ["rules"] : []),
  ];
}

function sourceOf(path: Path, sources: Map<string, string>, file: FileLayer): string {
  return sources.get(path.join(".")) ?? file.positionOf(path) ?? file.name;
}

function valueAt(values: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Record<string | number, unknown>)[key] : undefined,
    values,
  );
}

/** Rules that span several keys. */
function crossChecks(config: Config, source: (path: Path) => string): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const names = new Set<string>();
  config.repositories.forEach((repository, index) => {
    const at = (key: string, message: string): void => {
      problems.push({ source: source(["repositories", index, key]), key: `repositories.${index}.${key}`, message });
    };
    if (names.has(repository.name)) at("name", `"${repository.name}" is used twice`);
    names.add(repository.name);
    if (repository.ssh_key_file !== undefined && repository.known_hosts_file === undefined) {
      at("known_hosts_file", "is required with ssh_key_file, so that the host can be recognised");
    }
    if (repository.token_file !== undefined && !/^https?:/.test(repository.url)) at("token_file", "is for https URLs only");
    for (const namespace of repository.namespaces) {
      if (!config.nomad.namespaces.includes(namespace)) at("namespaces", `"${namespace}" is not among nomad.namespaces`);
    }
  });
  if ((config.nomad.client_cert === undefined) !== (config.nomad.client_key === undefined)) {
    problems.push({ source: source(["nomad", "client_cert"]), key: "nomad.client_cert", message: "and client_key go together" });
  }
  checkAuth(config, (path, message) => problems.push({ source: source(path), key: path.join("."), message }));
  return problems;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
