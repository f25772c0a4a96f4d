import { ConversionError, convert } from "./convert.ts";
import type { EvaluateContext } from "./evaluate-context.ts";
import { evaluateIn } from "./evaluate-in.ts";
import { ArgumentError, FunctionError, functionsOf, type HclFunction, type HclParameter, isConstantsOnly } from "./scope.ts";
import { didYouMean } from "./suggest.ts";
import type { CallExpression, SourceRange } from "./syntax.ts";
import { rangeBetween, startRange } from "./syntax.ts";
import { typeOf, unknownValue, type Value } from "./value.ts";

/** An argument and where it stands. */
interface Argument {
  readonly value: Value;
  readonly range: SourceRange;
  /** What went wrong was reported when it was evaluated. */
  readonly failed: boolean;
}

/** Calls a function: looks it up, evaluates and converts the arguments, reports what it refuses. */
export function callFunction(evaluator: EvaluateContext, call: CallExpression): Value {
  const functions = functionsOf(evaluator.scope);
  if (isConstantsOnly(evaluator.scope)) {
    evaluator.error("Function calls not allowed", "Functions may not be called here.", call.range);
    return unknownValue();
  }
  const found = functions.get(call.name);
  if (found === undefined) {
    reportUnknown(evaluator, call, functions);
    return unknownValue();
  }
  if (found.kind === "expressions") {
    const count = checkCount(evaluator, call, found, call.args.length, (index) => startRange(call.args[index] ?? call));
    if (!count) return unknownValue();
    return run(
      evaluator,
      call,
      found,
      call.args.map((argument) => startRange(argument)),
      () => found.call(call, (argument) => evaluateIn(evaluator, argument)),
    );
  }
  const before = evaluator.failures;
  const args = argumentsOf(evaluator, call);
  if (args === undefined) return unknownValue();
  if (!checkCount(evaluator, call, found, args.length, (index) => args[index]?.range ?? call.range)) return unknownValue();
  const values = args.map((argument, index) => convertArgument(evaluator, found, argument, index));
  if (evaluator.failures > before) return unknownValue();
  const ranges = args.map(({ range }) => range);
  return run(evaluator, call, found, ranges, () => {
    if (!usable(found, values)) return unknownValue();
    return found.call(values);
  });
}

function reportUnknown(evaluator: EvaluateContext, call: CallExpression, functions: ReadonlyMap<string, HclFunction>): void {
  const separator = call.name.lastIndexOf("::");
  const detail =
    separator === -1
      ? `There is no function named ${JSON.stringify(call.name)}.${didYouMean(call.name, functions.keys())}`
      : `There are no functions in namespace ${JSON.stringify(call.name.slice(0, separator + 2))}.`;
  evaluator.error("Call to unknown function", detail, call.nameRange);
}

/** Evaluates the arguments; `undefined` when the list after `...` is none. */
function argumentsOf(evaluator: EvaluateContext, call: CallExpression): Argument[] | undefined {
  const last = call.expandLast ? call.args.at(-1) : undefined;
  let expanded: readonly Argument[] = [];
  if (last !== undefined) {
    const before = evaluator.failures;
    const list = evaluator.value(last);
    if (evaluator.failures > before) return undefined;
    if (list.kind === "null") {
      evaluator.error(
        "Invalid expanding argument value",
        "The expanding argument (indicated by ...) must not be null.",
        last.range,
      );
      return undefined;
    }
    if (list.kind === "unknown") return undefined;
    if (!("items" in list)) {
      const detail = "The expanding argument (indicated by ...) must be of a tuple, list, or set type.";
      evaluator.error("Invalid expanding argument value", detail, last.range);
      return undefined;
    }
    expanded = list.items.map((value) => ({ value, range: last.range, failed: false }));
  }
  const plain = last === undefined ? call.args : call.args.slice(0, -1);
  const evaluated = plain.map((argument) => {
    const before = evaluator.failures;
    const value = evaluator.value(argument);
    return { value, range: startRange(argument), failed: evaluator.failures > before };
  });
  return [...evaluated, ...expanded];
}

function checkCount(
  evaluator: EvaluateContext,
  call: CallExpression,
  found: HclFunction,
  given: number,
  place: (index: number) => SourceRange,
): boolean {
  const wanted = found.parameters.length;
  const missing = found.parameters[given];
  const name = JSON.stringify(call.name);
  if (missing !== undefined) {
    const least = found.rest === undefined ? "" : " at least";
    const detail = `Function ${name} expects${least} ${wanted} argument(s). Missing value for ${JSON.stringify(missing.name)}.`;
    evaluator.error("Not enough function arguments", detail, call.closeRange);
    return false;
  }
  if (given > wanted && found.rest === undefined) {
    evaluator.error("Too many function arguments", `Function ${name} expects only ${wanted} argument(s).`, place(wanted));
    return false;
  }
  return true;
}

function parameterAt(found: HclFunction, index: number): HclParameter | undefined {
  return found.parameters[index] ?? found.rest;
}

function convertArgument(evaluator: EvaluateContext, found: HclFunction, argument: Argument, index: number): Value {
  const wanted = parameterAt(found, index);
  if (wanted === undefined) return argument.value;
  try {
    return convert(argument.value, wanted.type);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    const detail = `Invalid value for ${JSON.stringify(wanted.name)} parameter: ${error.message}.`;
    evaluator.error("Invalid function argument", detail, argument.range);
    return unknownValue(wanted.type);
  }
}

/** Null where none is allowed is refused; with an unknown argument the result is unknown. */
function usable(found: HclFunction, values: readonly Value[]): boolean {
  values.forEach((value, index) => {
    if (value.kind === "null" && parameterAt(found, index)?.allowNull !== true) {
      throw new FunctionError("argument must not be null", index);
    }
  });
  return values.every((value, index) => {
    if (parameterAt(found, index)?.allowUnknown === true) return true;
    return value.kind !== "unknown" && typeOf(value).kind !== "any" ? true : value.kind === "null";
  });
}

function run(
  evaluator: EvaluateContext,
  call: CallExpression,
  found: HclFunction,
  ranges: readonly SourceRange[],
  action: () => Value,
): Value {
  try {
    return action();
  } catch (error) {
    if (error instanceof ArgumentError) {
      evaluator.diagnostics.push(...error.diagnostics);
      return unknownValue();
    }
    const refused = refusal(error);
    const wanted = refused.argument === undefined ? undefined : parameterAt(found, refused.argument);
    if (wanted === undefined) {
      const detail = `Call to function ${JSON.stringify(call.name)} failed: ${refused.message}.`;
      evaluator.error("Error in function call", detail, rangeBetween(call.nameRange, call.openRange));
    } else {
      const detail = `Invalid value for ${JSON.stringify(wanted.name)} parameter: ${refused.message}.`;
      evaluator.error("Invalid function argument", detail, ranges[refused.argument ?? 0] ?? call.range);
    }
    return unknownValue();
  }
}

/** What a function threw, as a refusal; results that no string or integer can hold are one as well. */
function refusal(error: unknown): FunctionError {
  if (error instanceof FunctionError) return error;
  if (error instanceof ConversionError) return new FunctionError(error.message);
  if (error instanceof RangeError) return new FunctionError("the result is too large");
  throw error;
}
