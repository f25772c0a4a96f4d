import { ConversionError, convert } from "../../hcl/convert.ts";
import { evaluate } from "../../hcl/evaluate.ts";
import { isIdentifier } from "../../hcl/render.ts";
import { CONSTANTS_ONLY, type HclFunction, type Scope } from "../../hcl/scope.ts";
import type { Diagnostic, Expression, SourceRange } from "../../hcl/syntax.ts";
import { formatRange } from "../../hcl/syntax.ts";
import { readType } from "../../hcl/type-constraint.ts";
import { BOOL, objectValue, type Type, typeOf, unknownValue, type Value } from "../../hcl/value.ts";
import { freeVariables } from "../../hcl/walk.ts";
import { type Attr, type BodySchema, type BodySource, type RawAttr, type RawBlock, report } from "./body-view.ts";
import { decodeText } from "./decode-value.ts";

interface Validation {
  readonly condition: Expression | undefined;
  readonly message: string;
  readonly range: SourceRange;
}

interface Assigned {
  readonly value: Value;
  readonly range: SourceRange;
  readonly from: "default" | "varfile";
}

/** A variable of a job file. */
export interface JobVariable {
  readonly name: string;
  readonly type: Type | undefined;
  readonly range: SourceRange;
  readonly validations: readonly Validation[];
  /** The last one counts. */
  readonly assigned: Assigned[];
}

export type JobVariables = Map<string, JobVariable>;

const VARIABLE: BodySchema = {
  attributes: ["description", "default", "type"].map((name) => ({ name, required: false })),
  blocks: [{ type: "validation", labels: [] }],
};
const VALIDATION: BodySchema = {
  attributes: ["condition", "error_message"].map((name) => ({ name, required: true })),
  blocks: [],
};

const BAD_NAME = "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";

/** Reads the `variable` and `variables` blocks. */
export function declareVariables(blocks: readonly RawBlock[], diagnostics: Diagnostic[]): JobVariables {
  const variables: JobVariables = new Map();
  for (const block of blocks) {
    if (block.type === "variable") declareOne(block, variables, diagnostics);
    if (block.type !== "variables") continue;
    for (const attribute of plainAttributes(block, diagnostics).values()) declareShort(attribute, variables, diagnostics);
  }
  return variables;
}

/** Nothing is evaluated here: in JSON even templates stay what they are. */
function constantOf(attribute: RawAttr): Expression {
  return attribute.constant ?? attribute.expression;
}

function constantAttr(attribute: RawAttr): Attr {
  const { name, nameRange, range } = attribute;
  return { name, nameRange, range, expression: constantOf(attribute), scope: CONSTANTS_ONLY };
}

/** Attributes only: a block among them is an error. */
function plainAttributes(block: RawBlock, diagnostics: Diagnostic[]): ReadonlyMap<string, RawAttr> {
  return block.body.onlyAttributes(diagnostics);
}

function declareShort(attribute: RawAttr, variables: JobVariables, diagnostics: Diagnostic[]): void {
  const { name, nameRange, range } = attribute;
  const expression = constantOf(attribute);
  if (variables.has(name)) {
    report(diagnostics, nameRange, "Duplicate variable", `Duplicate ${name} variable definition found.`);
    return;
  }
  const { value, diagnostics: found } = evaluate(expression, CONSTANTS_ONLY);
  diagnostics.push(...found);
  if (found.length > 0) return;
  const assigned: Assigned[] = [{ value, range: expression.range, from: "default" }];
  variables.set(name, { name, type: typeOf(value), range, validations: [], assigned });
}

function declareOne(block: RawBlock, variables: JobVariables, diagnostics: Diagnostic[]): void {
  const [name = ""] = block.labels;
  if (variables.has(name)) {
    report(diagnostics, undefined, "Duplicate variable", `Duplicate ${name} variable definition found.`);
    return;
  }
  const content = block.body.content(VARIABLE, false, diagnostics);
  if (!isIdentifier(name)) report(diagnostics, block.labelRanges[0], "Invalid variable name", BAD_NAME);
  const description = content.attributes.get("description");
  if (description !== undefined) decodeText(constantAttr(description), diagnostics);
  const before = diagnostics.length;
  const typeAttribute = content.attributes.get("type");
  let type = typeAttribute === undefined ? undefined : readType(typeExpression(typeAttribute), diagnostics, "exact");
  if (diagnostics.length > before) return;
  const assigned: Assigned[] = [];
  const stated = content.attributes.get("default");
  if (stated !== undefined) {
    const fallback = constantOf(stated);
    const { value, diagnostics: found } = evaluate(fallback, CONSTANTS_ONLY);
    diagnostics.push(...found);
    if (found.length > 0) return;
    const converted = fitted(value, type, (reason) => {
      const detail = `This default value is not compatible with the variable's type constraint: ${reason}.`;
      report(diagnostics, fallback.range, "Invalid default value for variable", detail);
    });
    assigned.push({ value: converted, range: fallback.range, from: "default" });
    type ??= typeOf(converted);
  }
  const validations = content.blocks.map((inner) => readValidation(name, inner, diagnostics));
  variables.set(name, { name, type, range: block.headerRange, validations, assigned });
}

/** In JSON a type is a string, and messages point at all of it. */
function typeExpression(attribute: RawAttr): Expression {
  return attribute.keyword === undefined ? attribute.expression : { ...attribute.keyword(), range: attribute.expression.range };
}

/** The value as the type wants it; what does not fit is reported and becomes unknown. */
function fitted(value: Value, type: Type | undefined, complain: (reason: string) => void): Value {
  if (type === undefined) return value;
  try {
    return convert(value, type);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    complain(error.message);
    return unknownValue();
  }
}

function readValidation(name: string, block: RawBlock, diagnostics: Diagnostic[]): Validation {
  const { attributes } = block.body.content(VALIDATION, false, diagnostics);
  const condition = attributes.get("condition")?.expression;
  if (condition !== undefined) checkReferences(name, condition, diagnostics);
  const stated = attributes.get("error_message");
  const message = stated === undefined ? "" : errorMessage(constantAttr(stated), diagnostics);
  return { condition, message, range: block.headerRange };
}

function errorMessage(attribute: Attr, diagnostics: Diagnostic[]): string {
  const before = diagnostics.length;
  const message = decodeText(attribute, diagnostics) ?? "";
  if (diagnostics.length === before && message.trim() === "") {
    const detail = "An empty or blank string is not a valid nor useful error message.";
    report(diagnostics, attribute.expression.range, "Invalid validation error message", detail);
  }
  return message;
}

/** A condition may look at its own variable only, and must. */
function checkReferences(name: string, condition: Expression, diagnostics: Diagnostic[]): void {
  let good = 0;
  for (const { root, steps, range } of freeVariables(condition)) {
    const [step] = steps;
    if (root === "var" && step?.kind === "attribute" && step.name === name) good++;
    else {
      const detail = `The condition for variable "${name}" can only refer to the variable itself, using var.${name}.`;
      report(diagnostics, range, "Invalid reference in variable validation", detail);
    }
  }
  if (good > 0) return;
  const detail = `The condition for variable "${name}" must refer to var.${name} in order to test incoming values.`;
  report(diagnostics, condition.range, "Invalid variable validation condition", detail);
}

/** Takes the values of a variable file. A value for nobody is a warning, which is told only beside errors. */
export function assignVariables(variables: JobVariables, file: BodySource): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const declared = file.content({ attributes: [], blocks: [{ type: "variable", labels: ["name"] }] }, true, []).blocks;
  for (const block of declared) {
    const [name = ""] = block.labels;
    const detail =
      "A .var file is used to assign values to variables that have already been declared in job files, not to declare new " +
      `variables. To declare variable "${name}", place this block in one of your job files\n\nTo set a value for this variable ` +
      `in ${block.typeRange.filename}, use the definition syntax instead:\n    ${name} = <value>`;
    report(diagnostics, block.typeRange, "Variable declaration in a .var file", detail);
  }
  if (diagnostics.length > 0) return diagnostics;
  for (const attribute of file.onlyAttributes(diagnostics).values()) {
    const variable = variables.get(attribute.name);
    if (variable === undefined) diagnostics.push(forNobody(attribute.name));
    else assign(variable, constantOf(attribute), diagnostics);
  }
  return diagnostics;
}

function forNobody(name: string): Diagnostic {
  const detail =
    `A "${name}" variable was set but was not found in known variables. To declare variable "${name}", place this block in your ` +
    "job files";
  return { severity: "warning", summary: "Undefined variable", detail };
}

function assign(variable: JobVariable, expression: Expression, diagnostics: Diagnostic[]): void {
  const { value, diagnostics: found } = evaluate(expression, CONSTANTS_ONLY);
  diagnostics.push(...found);
  const converted = fitted(value, variable.type, (reason) => {
    const detail = `The value for ${variable.name} is not compatible with the variable's type constraint: ${reason}.`;
    report(diagnostics, expression.range, "Invalid value for variable", detail);
  });
  variable.assigned.push({ value: converted, range: expression.range, from: "varfile" });
}

/** `var` for expressions; unset variables and failed validations are reported. */
export function variablesObject(
  variables: JobVariables,
  functions: ReadonlyMap<string, HclFunction>,
  diagnostics: Diagnostic[],
): Value {
  const entries: [string, Value][] = [];
  for (const variable of variables.values()) {
    const used = variable.assigned.at(-1);
    if (used === undefined) {
      const detail =
        "A used variable must be set or have a default value; see " +
        "https://developer.hashicorp.com/nomad/docs/reference/hcl2/variables  for details.";
      report(diagnostics, undefined, `Unset variable "${variable.name}"`, detail);
    } else checkValidations(variable, used, functions, diagnostics);
    entries.push([variable.name, used?.value ?? unknownValue(variable.type)]);
  }
  return objectValue(entries);
}

function checkValidations(
  variable: JobVariable,
  used: Assigned,
  functions: ReadonlyMap<string, HclFunction>,
  diagnostics: Diagnostic[],
): void {
  const scope: Scope = { variables: new Map([["var", objectValue([[variable.name, used.value]])]]), functions };
  for (const { condition, message, range } of variable.validations) {
    if (condition === undefined) {
      const detail = "validation requires a condition.";
      report(diagnostics, range, "Invalid variable validation specification", detail);
      continue;
    }
    const { value, diagnostics: found } = evaluate(condition, scope);
    diagnostics.push(...found);
    if (value.kind === "unknown") continue;
    const summary = "Invalid variable validation result";
    if (value.kind === "null") {
      const detail = "Validation condition expression must return either true or false, not null.";
      report(diagnostics, condition.range, summary, detail);
      continue;
    }
    const passed = fitted(value, BOOL, (reason) => {
      report(diagnostics, condition.range, summary, `Invalid validation condition result value: ${reason}.`);
    });
    if (passed.kind !== "bool" || passed.value) continue;
    const detail = `${message}\n\nThis was checked by the validation rule at ${formatRange(range)}.`;
    report(diagnostics, used.range, `Invalid value for ${used.from} variable`, detail);
  }
}
