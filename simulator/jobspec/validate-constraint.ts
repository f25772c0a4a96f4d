import { regexpProblem } from "./go-regexp.ts";
import { goQuote } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import { num, type Rec, recs, str } from "./values.ts";

const COMPARISONS = new Set(["=", "==", "is", "!=", "not", "<", "<=", ">", ">="]);
const SET_CONTAINS = new Set(["set_contains", "set_contains_all", "set_contains_any"]);

const EXACT_TARGETS = new Set([
  "${node.unique.id}",
  "${node.datacenter}",
  "${node.unique.name}",
  "${node.class}",
  "${node.pool}",
]);
const TARGET_PREFIXES = ["${attr.", "${meta.", "${device."];

const VERSION =
  "v?[0-9]+(\\.[0-9]+)*(-[0-9]+[0-9A-Za-z\\-~]*(\\.[0-9A-Za-z\\-~]+)*|-?[A-Za-z\\-~]+[0-9A-Za-z\\-~]*(\\.[0-9A-Za-z\\-~]+)*)?(\\+[0-9A-Za-z\\-~]+(\\.[0-9A-Za-z\\-~]+)*)?";
const SEMVER = VERSION.replace("|-?[", "|-[");
const VERSION_RANGE = new RegExp(`^\\s*(=|!=|>|<|>=|<=|~>)?\\s*${VERSION}\\s*$`);
const SEMVER_RANGE = new RegExp(`^\\s*(=|!=|>|<|>=|<=)?\\s*${SEMVER}\\s*$`);

/** Two libraries judge these, and one of them writes a capital letter. */
function rangeProblem(text: string, pattern: RegExp, word: string): string | undefined {
  const bad = text.split(",").find((single) => !pattern.test(single));
  return bad === undefined ? undefined : `${word} constraint: ${bad}`;
}

/** What both constraints and affinities ask of a value; undefined when the operator is not one of these. */
function operandProblem(operand: string, value: string, word: string): string | undefined {
  switch (operand) {
    case "regexp": {
      const problem = regexpProblem(value);
      return problem === undefined ? undefined : `Regular expression failed to compile: ${problem}`;
    }
    case "version": {
      const problem = rangeProblem(value, VERSION_RANGE, "malformed");
      return problem === undefined ? undefined : `Version ${word} is invalid: ${problem}`;
    }
    case "semver": {
      const problem = rangeProblem(value, SEMVER_RANGE, "Malformed");
      return problem === undefined ? undefined : `Semver ${word} is invalid: ${problem}`;
    }
    default:
      return COMPARISONS.has(operand) && value === "" ? `Operator ${goQuote(operand)} requires an RTarget` : undefined;
  }
}

const SHARED = new Set(["regexp", "version", "semver", ...COMPARISONS]);

function constraintProblems(constraint: Rec): string[] {
  const [target, value, operand] = [str(constraint, "LTarget"), str(constraint, "RTarget"), str(constraint, "Operand")];
  const problems: string[] = [];
  if (operand === "") problems.push("Missing constraint operand");
  const problem = constraintOperandProblem(operand, value);
  if (problem !== undefined) problems.push(problem);
  if (operand === "distinct_hosts") return problems;
  if (target === "") problems.push("no attribute provided but is required by operator");
  else {
    const wrong = targetProblem(target);
    if (wrong !== undefined) problems.push(wrong);
  }
  return problems;
}

function constraintOperandProblem(operand: string, value: string): string | undefined {
  if (operand === "distinct_hosts") return undefined;
  if (SET_CONTAINS.has(operand)) return value === "" ? "Set contains constraint requires an RTarget" : undefined;
  if (operand === "distinct_property") return distinctProblem(value);
  if (operand === "is_set" || operand === "is_not_set") {
    return value === "" ? undefined : `Operator ${goQuote(operand)} does not support an RTarget`;
  }
  return SHARED.has(operand) ? operandProblem(operand, value, "constraint") : `Unknown constraint type ${goQuote(operand)}`;
}

function distinctProblem(value: string): string | undefined {
  if (value === "") return undefined;
  if (!/^\d+$/.test(value)) {
    return `Failed to convert RTarget ${goQuote(value)} to uint64: strconv.ParseUint: parsing ${goQuote(value)}: invalid syntax`;
  }
  return Number(value) >= 1 ? undefined : "Distinct Property must have an allowed count of 1 or greater: 0 < 1";
}

function targetProblem(target: string): string | undefined {
  if (!target.startsWith("$")) return undefined;
  if (!target.startsWith("${")) return `attribute ${goQuote(target)} is missing an opening brace`;
  if (!target.endsWith("}")) return `attribute ${goQuote(target)} is missing a closing brace`;
  if (EXACT_TARGETS.has(target) || TARGET_PREFIXES.some((prefix) => target.startsWith(prefix))) return undefined;
  return `unsupported attribute ${goQuote(target)}`;
}

function affinityProblems(affinity: Rec): string[] {
  const [value, operand, weight] = [str(affinity, "RTarget"), str(affinity, "Operand"), num(affinity, "Weight")];
  const problems: string[] = [];
  if (operand === "") problems.push("Missing affinity operand");
  if (SET_CONTAINS.has(operand)) {
    if (value === "") problems.push("Set contains operators require an RTarget");
  } else if (SHARED.has(operand)) {
    const problem = operandProblem(operand, value, "affinity");
    if (problem !== undefined) problems.push(problem);
  } else problems.push(`Unknown affinity operator ${goQuote(operand)}`);
  if (str(affinity, "LTarget") === "") problems.push("No LTarget provided but is required");
  if (weight === 0) problems.push("Affinity weight cannot be zero");
  if (weight > 100 || weight < -100) problems.push("Affinity weight must be within the range [-100,100]");
  return problems;
}

function spreadProblems(spread: Rec): string[] {
  const problems: string[] = [];
  if (str(spread, "Attribute") === "") problems.push("Missing spread attribute");
  const weight = num(spread, "Weight");
  if (weight <= 0 || weight > 100) problems.push("Spread block must have a positive weight from 0 to 100");
  const seen = new Set<string>();
  let sum = 0;
  for (const target of recs(spread, "SpreadTarget")) {
    const [value, percent] = [str(target, "Value"), num(target, "Percent")];
    if (seen.has(value)) problems.push(`Spread target value ${goQuote(value)} already defined`);
    seen.add(value);
    if (percent > 100) problems.push(`Spread target percentage for value ${goQuote(value)} must be between 0 and 100`);
    sum += percent;
  }
  if (sum > 100) problems.push(`Sum of spread target percentages must not be greater than 100%; got ${sum}%`);
  return problems;
}

function numbered(word: string, list: readonly Rec[], check: (item: Rec) => string[]): string[] {
  return list.flatMap((item, i) => {
    const problems = check(item);
    return problems.length === 0 ? [] : [`${word} ${i + 1} validation failed: ${listErrors(problems)}`];
  });
}

/** The constraints of a job, group, task or device. */
export function validateConstraints(holder: Rec): string[] {
  return numbered("Constraint", recs(holder, "Constraints"), constraintProblems);
}

/** Affinities; system jobs may have none. */
export function validateAffinities(holder: Rec, jobType: string): string[] {
  const list = recs(holder, "Affinities");
  if (jobType === "system") return list.length > 0 ? ["System jobs may not have an affinity block"] : [];
  return numbered("Affinity", list, affinityProblems);
}

/** Spreads; system jobs may have none. */
export function validateSpreads(holder: Rec, jobType: string): string[] {
  const list = recs(holder, "Spreads");
  if (jobType === "system") return list.length > 0 ? ["System jobs may not have a spread block"] : [];
  return numbered("Spread", list, spreadProblems);
}

/** The problems of one constraint, for devices. */
export function deviceConstraintProblems(device: Rec): string[] {
  const own = recs(device, "Constraints").flatMap((constraint, i) => {
    const operand = str(constraint, "Operand");
    if (operand === "distinct_hosts" || operand === "distinct_property") {
      return [`Constraint ${i + 1} validation failed: using unsupported operand ${goQuote(operand)}`];
    }
    const problems = constraintProblems(constraint);
    return problems.length === 0 ? [] : [`Constraint ${i + 1} validation failed: ${listErrors(problems)}`];
  });
  return [...own, ...numbered("Affinity", recs(device, "Affinities"), affinityProblems)];
}
