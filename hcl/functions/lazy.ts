import { ConversionError, convert } from "../convert.ts";
import { ArgumentError, type Evaluation, type ExpressionFunction, FunctionError, parameter } from "../scope.ts";
import type { Diagnostic } from "../syntax.ts";
import { formatRange } from "../syntax.ts";
import { readType } from "../type-constraint.ts";
import { ANY, BOOL, boolValue, isWhollyKnown, unknownValue } from "../value.ts";

function failed({ diagnostics }: Evaluation): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

/** The first expression that can be evaluated. */
const tryFirst: ExpressionFunction = {
  kind: "expressions",
  parameters: [],
  rest: parameter("expressions", ANY),
  call: (call, evaluate) => {
    if (call.args.length === 0) throw new FunctionError("at least one argument is required");
    const problems: Diagnostic[] = [];
    for (const argument of call.args) {
      const evaluation = evaluate(argument);
      if (!failed(evaluation)) return isWhollyKnown(evaluation.value) ? evaluation.value : unknownValue();
      problems.push(...evaluation.diagnostics);
    }
    const list = problems.map(({ summary, detail, range }) => {
      return `- ${summary}${range === undefined ? "" : ` (at ${formatRange(range)})`}\n  ${detail}\n`;
    });
    throw new FunctionError(
      `no expression succeeded:\n${list.join("")}\nAt least one expression must produce a successful result`,
    );
  },
};

const can: ExpressionFunction = {
  kind: "expressions",
  parameters: [parameter("expression", ANY)],
  call: (call, evaluate) => {
    const [argument] = call.args;
    const evaluation = argument === undefined ? undefined : evaluate(argument);
    if (evaluation === undefined || failed(evaluation)) return boolValue(false);
    return isWhollyKnown(evaluation.value) ? boolValue(true) : unknownValue(BOOL);
  },
};

/** `convert(value, list(string))`: the second argument is a type, not a value. */
const convertTo: ExpressionFunction = {
  kind: "expressions",
  parameters: [parameter("value", ANY), parameter("type", ANY)],
  call: (call, evaluate) => {
    const [given, wanted] = call.args;
    if (given === undefined || wanted === undefined) throw new FunctionError("two arguments are required");
    const evaluation = evaluate(given);
    const problems: Diagnostic[] = [...evaluation.diagnostics];
    const type = readType(wanted, problems, "constraint");
    if (problems.length > 0) throw new ArgumentError(problems);
    try {
      return convert(evaluation.value, type);
    } catch (error) {
      if (error instanceof ConversionError) throw new FunctionError(error.message, 0);
      throw error;
    }
  },
};

export const lazyFunctions: Readonly<Record<string, ExpressionFunction>> = { can, convert: convertTo, try: tryFirst };
