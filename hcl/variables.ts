import { ConversionError, convert } from "./convert.ts";
import type { DeclaredVariable } from "./declarations.ts";
import { evaluate } from "./evaluate.ts";
import { looksLikeJson, parseJsonBody } from "./json-syntax.ts";
import type { HclParser } from "./parser.ts";
import { type FileProblem, problemAt, problemOf } from "./problem.ts";
import { isIdentifier, renderValue } from "./render.ts";
import { CONSTANTS_ONLY } from "./scope.ts";
import { looksSecret } from "./secret-names.ts";
import type { Body, SourceRange } from "./syntax.ts";
import { isWhollyKnown, stringValue, type Value } from "./value.ts";
import { jsonToValue } from "./value-json.ts";

/** A value for a variable and where it comes from. */
export interface VariableAssignment {
  readonly name: string;
  readonly value: Value;
  /** For messages: `vars/prod.hcl:3`, `NOMAD_VAR_tag`, `the configuration`. */
  readonly origin: string;
  readonly range?: SourceRange;
}

/** Values from one place. */
export interface VariableSource {
  readonly assignments: readonly VariableAssignment[];
  /** Meant for many job files: values nobody asked for are no mistake of this file. */
  readonly shared: boolean;
}

/** A file of variable values, read. */
export interface VariableFile {
  readonly assignments: readonly VariableAssignment[];
  readonly problems: readonly FileProblem[];
}

/**
 * Reads a file of `name = value` lines (HCL, or a JSON object). Values are constants: Nomad knows neither functions nor
 * references there (nomad-api §1).
 */
export function parseVariableFile(text: string, path: string, parser: HclParser): VariableFile {
  const parsed = looksLikeJson(text) ? parseJsonBody(text, path) : parser.parse(text, path);
  const errors = parsed.diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) return { assignments: [], problems: errors.map((error) => problemOf(error, path)) };
  const problems = parsed.body.blocks.map((block) => {
    const what =
      block.type === "variable"
        ? "variables are declared in the job file; here a value is set: name = value"
        : "only name = value is allowed";
    return problemAt(block.typeRange, `a file of variable values holds no blocks (${block.type}): ${what}`);
  });
  return { assignments: readAssignments(parsed.body, path, problems), problems };
}

function readAssignments(body: Body, path: string, problems: FileProblem[]): VariableAssignment[] {
  return body.attributes.flatMap((attribute) => {
    const { value, diagnostics } = evaluate(attribute.expression, CONSTANTS_ONLY);
    if (diagnostics.length > 0) {
      problems.push(...diagnostics.map((diagnostic) => problemOf(diagnostic, path)));
      return [];
    }
    const origin = `${path}:${attribute.nameRange.start.line}`;
    return [{ name: attribute.name, value, origin, range: attribute.expression.range }];
  });
}

const PREFIX = "NOMAD_VAR_";

/**
 * Values from `NOMAD_VAR_name` of an environment. As in Nomad the text is the value of strings, numbers and undeclared
 * types, and an HCL expression for all other types.
 */
export function environmentVariables(
  environment: Readonly<Record<string, string | undefined>>,
  declared: readonly DeclaredVariable[],
  parser: HclParser,
): VariableFile {
  const problems: FileProblem[] = [];
  const assignments: VariableAssignment[] = [];
  for (const variable of declared) {
    const text = environment[PREFIX + variable.name];
    if (text === undefined) continue;
    const origin = PREFIX + variable.name;
    const kind = variable.type?.kind ?? "any";
    if (kind === "string" || kind === "number" || kind === "any") {
      assignments.push({ name: variable.name, value: stringValue(text), origin });
      continue;
    }
    const { expression, diagnostics } = parser.parseExpression(text, origin);
    const evaluated = diagnostics.length > 0 ? undefined : evaluate(expression, CONSTANTS_ONLY);
    if (evaluated === undefined || evaluated.diagnostics.length > 0) {
      // The text itself may be a secret: it is not shown.
      problems.push(problemAt(variable.range, `${origin} is no HCL expression for variable "${variable.name}"`));
    } else assignments.push({ name: variable.name, value: evaluated.value, origin });
  }
  return { assignments, problems };
}

/** Values from the configuration: names to plain data as YAML gives it. */
export function configuredVariables(values: Readonly<Record<string, unknown>>, origin: string): VariableSource {
  const assignments = Object.entries(values).map(([name, value]) => ({ name, value: jsonToValue(value), origin }));
  return { assignments, shared: true };
}

/** The values for one job file, ready for Nomad's parse. */
export interface MergedVariables {
  /** `name = value` lines, in the order of the names; only declared variables. */
  readonly text: string;
  /** The same without values that look secret by their name. */
  readonly publicText: string;
  readonly values: ReadonlyMap<string, Value>;
  /** Missing values and wrong types are errors, values for nobody are warnings. */
  readonly problems: readonly FileProblem[];
  /** Values that no declaration takes, from shared sources too. */
  readonly unknown: readonly VariableAssignment[];
}

/**
 * Merges values for the variables a job file declares; later sources win (design D28).
 * @param path the job file, for messages
 */
export function mergeVariables(
  declared: readonly DeclaredVariable[],
  sources: readonly VariableSource[],
  path: string,
): MergedVariables {
  const byName = new Map(declared.map((variable) => [variable.name, variable]));
  const chosen = new Map<string, VariableAssignment>();
  const unknown: VariableAssignment[] = [];
  const problems: FileProblem[] = [];
  for (const { assignments, shared } of sources) {
    for (const assignment of assignments) {
      if (byName.has(assignment.name)) chosen.set(assignment.name, assignment);
      else {
        unknown.push(assignment);
        if (!shared) problems.push(unknownProblem(assignment, path));
      }
    }
  }
  const values = new Map<string, Value>();
  for (const variable of declared) {
    const assignment = chosen.get(variable.name);
    if (assignment !== undefined) {
      const problem = checkValue(variable, assignment, path);
      if (problem === undefined) values.set(variable.name, assignment.value);
      else problems.push(problem);
    } else if (!variable.hasDefault) {
      const message = `variable "${variable.name}" has no default, and no value is set for it; var_files, variables, or a .vars.hcl beside the file can`;
      problems.push(problemAt(variable.range, message));
    }
  }
  return { text: render(values, () => true), publicText: render(values, isPublic), values, problems, unknown };
}

function unknownProblem(assignment: VariableAssignment, path: string): FileProblem {
  const message = `${assignment.origin}: a value is set for variable "${assignment.name}", which ${path} does not declare`;
  return assignment.range === undefined
    ? { severity: "warn", file: path, message }
    : problemAt(assignment.range, message, "warn");
}

function checkValue(variable: DeclaredVariable, assignment: VariableAssignment, path: string): FileProblem | undefined {
  const problem = (reason: string): FileProblem => {
    const declaredAt = `${variable.range.filename}:${variable.range.start.line}`;
    const message = `${assignment.origin}: the value for variable "${variable.name}" does not fit its type (declared at ${declaredAt}): ${reason}`;
    return assignment.range === undefined ? { severity: "error", file: path, message } : problemAt(assignment.range, message);
  };
  if (!isIdentifier(variable.name)) return problem("the name of the variable is no identifier");
  if (!isWhollyKnown(assignment.value)) return problem("the value is not known");
  if (variable.type === undefined) return undefined;
  try {
    convert(assignment.value, variable.type);
    return undefined;
  } catch (error) {
    if (error instanceof ConversionError) return problem(error.message);
    throw error;
  }
}

function render(values: ReadonlyMap<string, Value>, included: (name: string, value: Value) => boolean): string {
  return [...values]
    .filter(([name, value]) => included(name, value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name} = ${renderValue(value)}\n`)
    .join("");
}

/** A value is shown when neither its name nor a name inside it looks secret. */
function isPublic(name: string, value: Value): boolean {
  if (looksSecret(name)) return false;
  if ("entries" in value) return [...value.entries].every(([inner, item]) => isPublic(inner, item));
  return "items" in value ? value.items.every((item) => isPublic("", item)) : true;
}
