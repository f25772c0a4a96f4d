import { ConversionError, convert } from "../convert.ts";
import { countCharacters } from "../line-map.ts";
import { isInfinite, isMinus, signOf } from "../number.ts";
import { formatFloat, formatGeneral, formatInteger } from "../number-format.ts";
import { FunctionError, parameter } from "../scope.ts";
import { BOOL, isWhollyKnown, listValue, NUMBER, STRING, stringValue, type Type, unknownValue, type Value } from "../value.ts";
import { jsonText } from "../value-text.ts";
import { at, define, type FunctionTable, str, textAt } from "./define.ts";

/** One `%…` of a format. */
interface Verb {
  readonly raw: string;
  readonly offset: number;
  /** From 1. */
  readonly argument: number;
  readonly mode: string;
  readonly flags: string;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

const VERB = /%(?:%|([0#\-+ ]*)([1-9][0-9]*)?(\.[0-9]*)?(?:\[([1-9][0-9]*)\])?([A-Za-z]))/y;
const WIDEST = 10_000;

/** Applies a format as C's printf has it, with `%v` for any value. */
function formatText(format: string, values: readonly Value[]): string {
  let result = "";
  let next = 1;
  let highest = 0;
  for (let at = 0; at < format.length; ) {
    if (format[at] !== "%") {
      result += format[at];
      at += 1;
      continue;
    }
    VERB.lastIndex = at;
    const match = VERB.exec(format);
    if (match === null) throw brokenVerb(format, at);
    at = VERB.lastIndex;
    if (match[0] === "%%") {
      result += "%";
      continue;
    }
    const verb = readVerb(match, next);
    highest = Math.max(highest, verb.argument);
    next = verb.argument + 1;
    result += formatVerb(verb, values);
  }
  if (highest < values.length) {
    const used = highest === 0 ? "no verbs in format string" : `only ${highest} used by format string`;
    throw new FunctionError(`too many arguments; ${used}`, highest + 1);
  }
  return result;
}

function brokenVerb(format: string, start: number): FunctionError {
  const lead = /^%[0#\-+ ]*(?:[1-9][0-9]*)?(?:\.[0-9]*)?(?:\[(?:[1-9][0-9]*\]?)?)?/.exec(format.slice(start));
  const end = start + (lead?.[0].length ?? 1);
  const offset = Buffer.byteLength(format.slice(0, end));
  if (end >= format.length) return new FunctionError(`invalid format string starting at offset ${offset}`);
  const character = String.fromCodePoint(format.codePointAt(end) ?? 0);
  return new FunctionError(`unrecognized format character '${character}' at offset ${offset}`);
}

function readVerb(match: RegExpExecArray, next: number): Verb {
  const [raw, flags = "", width, precision, argument, mode = ""] = match;
  const wide = width === undefined ? undefined : Number(width);
  if ((wide ?? 0) > WIDEST) throw new FunctionError(`the width ${wide} is more than ${WIDEST}`);
  return {
    raw,
    offset: Buffer.byteLength(match.input.slice(0, match.index)),
    argument: argument === undefined ? next : Number(argument),
    mode,
    flags,
    width: wide,
    precision: precision === undefined ? undefined : Math.min(Number(precision.slice(1)), WIDEST),
  };
}

function formatVerb(verb: Verb, values: readonly Value[]): string {
  const place = `${JSON.stringify(verb.raw)} at ${verb.offset}`;
  const value = values[verb.argument - 1];
  if (value === undefined) {
    throw new FunctionError(`not enough arguments for ${place}: need index ${verb.argument} but have ${values.length} total`);
  }
  if (verb.mode !== "v" && value.kind === "null") {
    throw new FunctionError(`unsupported value for ${place}: null value cannot be formatted`);
  }
  switch (verb.mode) {
    case "v":
      return pad(verb, asIs(verb, value));
    case "t":
      return converted(verb, value, BOOL).kind === "bool" ? jsonText(converted(verb, value, BOOL)) : "";
    case "b":
    case "d":
    case "o":
    case "x":
    case "X":
    case "e":
    case "E":
    case "f":
    case "g":
    case "G":
      return formatNumberVerb(verb, converted(verb, value, NUMBER));
    case "s":
    case "q":
      return pad(verb, formatString(verb, converted(verb, value, STRING)));
    default:
      throw new FunctionError(`unsupported format verb '${verb.mode}' in ${JSON.stringify(verb.raw)} at offset ${verb.offset}`);
  }
}

function converted(verb: Verb, value: Value, type: Type): Value {
  try {
    return convert(value, type);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw new FunctionError(`unsupported value for ${JSON.stringify(verb.raw)} at ${verb.offset}: ${error.message}`);
  }
}

function asIs(verb: Verb, value: Value): string {
  if (!verb.flags.includes("#")) {
    if (value.kind === "string") return value.value;
    if (value.kind === "number") return formatGeneral(value.value);
  }
  return jsonText(value);
}

function formatString(verb: Verb, value: Value): string {
  const text = value.kind === "string" ? value.value : "";
  const limit = verb.precision ?? 0;
  const shown =
    limit > 0
      ? [...new Intl.Segmenter("en").segment(text)]
          .slice(0, limit)
          .map(({ segment }) => segment)
          .join("")
      : text;
  return verb.mode === "q" ? jsonText(stringValue(shown)) : shown;
}

/** Width counts characters as a reader sees them. */
function pad(verb: Verb, text: string): string {
  const missing = (verb.width ?? 0) - countCharacters(text);
  if (missing <= 0) return text;
  const filling = (verb.flags.includes("0") ? "0" : " ").repeat(missing);
  return verb.flags.includes("-") ? text + filling : filling + text;
}

function formatNumberVerb(verb: Verb, value: Value): string {
  if (value.kind !== "number") return "";
  const isInteger = "bdoxX".includes(verb.mode);
  const digits = isInteger ? formatInteger(value.value, verb.mode) : formatFloat(value.value, verb.mode, verb.precision);
  if (digits === undefined) {
    throw new FunctionError(`unsupported value for ${JSON.stringify(verb.raw)} at ${verb.offset}: an integer is required`);
  }
  const negative = isInteger ? signOf(value.value) < 0 : isMinus(value.value);
  const sign = negative
    ? "-"
    : verb.flags.includes("+")
      ? "+"
      : verb.flags.includes(" ")
        ? " "
        : isInfinite(value.value)
          ? "+"
          : "";
  const marked = isInteger && verb.flags.includes("#") ? ({ b: "0b", o: "0", x: "0x", X: "0X" }[verb.mode] ?? "") : "";
  const shown = isInteger ? digits.padStart(verb.precision ?? 0, "0") : digits;
  const length = sign.length + marked.length + shown.length;
  const missing = Math.max(0, (verb.width ?? 0) - length);
  const zeros = verb.flags.includes("0") && !(isInteger && (verb.flags.includes("-") || verb.precision !== undefined));
  if (zeros) return sign + marked + "0".repeat(missing) + shown;
  const text = sign + marked + shown;
  return verb.flags.includes("-") ? text + " ".repeat(missing) : " ".repeat(missing) + text;
}

function format(args: readonly Value[]): Value {
  if (!args.every(isWhollyKnown)) return unknownValue(STRING);
  return stringValue(formatText(textAt(args, 0), args.slice(1)));
}

/** Formats once for every element of the lists, which must be of one length; other values are repeated. */
function formatList(args: readonly Value[]): Value {
  const [, ...values] = args;
  if (!args.every(isWhollyKnown)) return unknownValue({ kind: "list", element: STRING });
  if (values.length === 0) return listValue([format(args)], STRING);
  const first = values.findIndex((value) => "items" in value);
  const lengths = values.map((value) => ("items" in value ? value.items.length : undefined));
  const count = lengths[first] ?? 1;
  lengths.forEach((length, index) => {
    if (length === undefined || length === count) return;
    const other = `which is inconsistent with argument ${first + 1} of length ${count}`;
    throw new FunctionError(`argument ${index + 1} has length ${length}, ${other}`, index + 1);
  });
  const texts = Array.from({ length: count }, (_, round) => {
    const current = values.map((value) => ("items" in value ? at(value.items, round) : value));
    try {
      return stringValue(formatText(textAt(args, 0), current));
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      throw new FunctionError(`error on format iteration ${round}: ${error.message}`);
    }
  });
  return listValue(texts, STRING);
}

const values = parameter("args", undefined, { allowNull: true, allowUnknown: true });

export const formatFunctions: FunctionTable = {
  format: define([str("format")], format, values),
  formatlist: define([str("format")], formatList, values),
};
