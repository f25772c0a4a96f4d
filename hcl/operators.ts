import {
  add,
  compareNumbers,
  divide,
  type HclNumber,
  isInfinite,
  multiply,
  negate,
  numberFromInteger,
  truncate,
  ZERO,
} from "./number.ts";
import { FunctionError } from "./scope.ts";
import type { BinaryOperator } from "./syntax.ts";
import {
  ANY,
  BOOL,
  boolValue,
  equalValues,
  isWhollyKnown,
  NUMBER,
  numberValue,
  type Type,
  typeOf,
  unknownValue,
  type Value,
} from "./value.ts";

/** The type that both operands are converted to. */
export function operandType(operator: BinaryOperator): Type {
  if (operator === "&&" || operator === "||") return BOOL;
  return operator === "==" || operator === "!=" ? ANY : NUMBER;
}

/** The type of the result. */
export function resultType(operator: BinaryOperator): Type {
  return ["+", "-", "*", "/", "%"].includes(operator) ? NUMBER : BOOL;
}

/**
 * Applies an operator to converted operands.
 * @throws FunctionError where the operation has no result.
 */
export function applyBinary(operator: BinaryOperator, left: Value, right: Value): Value {
  if (operator === "==" || operator === "!=") {
    if (!isWhollyKnown(left) || !isWhollyKnown(right)) return unknownValue(BOOL);
    return boolValue(equalValues(left, right) === (operator === "=="));
  }
  if (left.kind === "null" || right.kind === "null") {
    throw new FunctionError("argument must not be null", left.kind === "null" ? 0 : 1);
  }
  if (left.kind === "bool" && right.kind === "bool") {
    return boolValue(operator === "&&" ? left.value && right.value : left.value || right.value);
  }
  if (left.kind !== "number" || right.kind !== "number") return unknownValue(resultType(operator));
  const order = compareNumbers(left.value, right.value);
  switch (operator) {
    case ">":
      return boolValue(order > 0);
    case ">=":
      return boolValue(order >= 0);
    case "<":
      return boolValue(order < 0);
    case "<=":
      return boolValue(order <= 0);
    default:
      return numberValue(arithmetic(operator, left.value, right.value));
  }
}

function arithmetic(operator: BinaryOperator, left: HclNumber, right: HclNumber): HclNumber {
  const result = compute(operator, left, right);
  if (result === undefined) throw new FunctionError(UNDEFINED[operator] ?? "the operation has no result");
  return result;
}

const UNDEFINED: Partial<Record<BinaryOperator, string>> = {
  "+": "can't compute sum of opposing infinities",
  "-": "can't subtract infinity from itself",
  "*": "can't multiply zero by infinity",
  "/": "can't divide zero by zero or infinity by infinity",
  "%": "can't use modulo with zero and infinity",
};

function compute(operator: BinaryOperator, left: HclNumber, right: HclNumber): HclNumber | undefined {
  switch (operator) {
    case "+":
      return add(left, right);
    case "-":
      return add(left, negate(right));
    case "*":
      return multiply(left, right);
    case "/":
      return divide(left, right);
    default:
      return modulo(left, right);
  }
}

/** The remainder of division towards zero; what is divided by zero or infinity stays as it is, as in cty. */
export function modulo(left: HclNumber, right: HclNumber): HclNumber | undefined {
  if (isInfinite(left) || isInfinite(right) || right.mantissa === 0n) return left;
  const whole = truncate(divide(left, right) ?? ZERO);
  if (whole === undefined) return undefined;
  const taken = multiply(numberFromInteger(whole), right);
  return taken === undefined ? undefined : add(left, negate(taken));
}

/** `-x` and `!x`. */
export function applyUnary(operator: "-" | "!", operand: Value): Value {
  if (operand.kind === "null") throw new FunctionError("argument must not be null", 0);
  if (operator === "-" && operand.kind === "number") return numberValue(negate(operand.value));
  if (operator === "!" && operand.kind === "bool") return boolValue(!operand.value);
  return unknownValue(typeOf(operand));
}
