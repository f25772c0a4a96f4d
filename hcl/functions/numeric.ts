import { compareNumbers, type HclNumber, magnitude, numberFromInteger, truncate } from "../number.ts";
import { FunctionError } from "../scope.ts";
import { friendlyType } from "../type-names.ts";
import { integerValue, numberValue, typeOf, type Value } from "../value.ts";
import { doubleValue } from "../value-json.ts";
import { anything, at, define, doubleAt, type FunctionTable, integerAt, num } from "./define.ts";

function numberAt(args: readonly Value[], index: number): HclNumber {
  const value = at(args, index);
  return value.kind === "number" ? value.value : numberFromInteger(0);
}

function round(args: readonly Value[], direction: 1 | -1): Value {
  const value = numberAt(args, 0);
  const whole = truncate(value);
  if (whole === undefined) return numberValue(value);
  const exact = numberFromInteger(whole);
  const beyond = Math.sign(compareNumbers(value, exact)) === direction;
  return integerValue(beyond ? whole + BigInt(direction) : whole);
}

function extreme(args: readonly Value[], direction: 1 | -1): Value {
  if (args.length === 0) throw new FunctionError("must pass at least one number");
  let best = numberAt(args, 0);
  for (let index = 1; index < args.length; index += 1) {
    const candidate = numberAt(args, index);
    if (Math.sign(compareNumbers(candidate, best)) === direction) best = candidate;
  }
  return numberValue(best);
}

function fromDouble(value: number): Value {
  if (Number.isNaN(value)) throw new FunctionError("the result is not a number");
  return doubleValue(value);
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

function parseInteger(args: readonly Value[]): Value {
  const given = at(args, 0);
  if (given.kind !== "string") {
    throw new FunctionError(`first argument must be a string, not ${friendlyType(typeOf(given))}`, 0);
  }
  const base = integerAt(args, 1, (reason) => new FunctionError(reason, 1));
  if (base < 2 || base > 62) throw new FunctionError("base must be a whole number between 2 and 62 inclusive", 1);
  const match = /^([+-]?)([0-9a-zA-Z]+)$/.exec(given.value);
  // Up to base 36 upper and lower case are one.
  const text = base <= 36 ? match?.[2]?.toLowerCase() : match?.[2];
  let result = 0n;
  let valid = text !== undefined;
  for (const digit of text ?? "") {
    const value = DIGITS.indexOf(digit);
    if (value >= base) valid = false;
    result = result * BigInt(base) + BigInt(value);
  }
  if (!valid) throw new FunctionError(`cannot parse ${JSON.stringify(given.value)} as a base ${base} integer`, 0);
  return integerValue(match?.[1] === "-" ? -result : result);
}

export const numericFunctions: FunctionTable = {
  abs: define([num("num")], (args) => {
    const value = numberAt(args, 0);
    return numberValue(magnitude(value));
  }),
  ceil: define([num("num")], (args) => round(args, 1)),
  floor: define([num("num")], (args) => round(args, -1)),
  log: define([num("num"), num("base")], (args) => fromDouble(Math.log(doubleAt(args, 0)) / Math.log(doubleAt(args, 1)))),
  max: define([], (args) => extreme(args, 1), num("numbers")),
  min: define([], (args) => extreme(args, -1), num("numbers")),
  parseint: define([anything("number"), num("base")], parseInteger),
  pow: define([num("num"), num("power")], (args) => fromDouble(doubleAt(args, 0) ** doubleAt(args, 1))),
  signum: define([num("num")], (args) => integerValue(Math.sign(integerAt(args, 0)))),
};
