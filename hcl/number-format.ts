import { exactInteger, formatNumber, type HclNumber, isInfinite, isMinus } from "./number.ts";

/** Digits and where the point stands: 0.digits · 10^power. */
interface Decimal {
  readonly digits: string;
  readonly power: number;
}

/** All digits of a number, which a binary fraction always has finitely many of. */
function exactDecimal(value: HclNumber): Decimal {
  const magnitude = value.mantissa < 0n ? -value.mantissa : value.mantissa;
  const down = Math.max(0, -value.exponent);
  const scaled = value.exponent >= 0 ? magnitude << BigInt(value.exponent) : magnitude * 5n ** BigInt(down);
  return trimmed(scaled.toString(), -down);
}

/** The shortest digits that name the number. */
function shortestDecimal(value: HclNumber): Decimal {
  const [whole = "", fraction = ""] = formatNumber(value).replace("-", "").split(".");
  return trimmed(whole + fraction, -fraction.length);
}

function trimmed(all: string, scale: number): Decimal {
  const leading = all.replace(/^0+/, "");
  return { digits: leading.replace(/0+$/, ""), power: leading === "" ? 0 : leading.length + scale };
}

/** Keeps `count` digits, to nearest, ties to even. */
function roundDecimal({ digits, power }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, power };
  if (count < 0) return { digits: "", power: 0 };
  const rest = digits.slice(count);
  const last = count === 0 ? 0 : Number(digits[count - 1]);
  const up = rest > `5${"0".repeat(rest.length - 1)}` || (/^50*$/.test(rest) && last % 2 === 1);
  if (!up) return trimmed(digits.slice(0, count), power - count);
  return trimmed((BigInt(`0${digits.slice(0, count)}`) + 1n).toString(), power - count);
}

function fixed({ digits, power }: Decimal, precision: number): string {
  const whole = power > 0 ? digits.slice(0, power).padEnd(power, "0") : "0";
  const fraction = power > 0 ? digits.slice(power) : "0".repeat(-power) + digits;
  return precision > 0 ? `${whole}.${fraction.padEnd(precision, "0").slice(0, precision)}` : whole;
}

function scientific({ digits, power }: Decimal, precision: number, letter: string): string {
  const first = digits[0] ?? "0";
  const fraction = digits.slice(1).padEnd(precision, "0").slice(0, precision);
  const exponent = digits === "" ? 0 : power - 1;
  const shown = String(Math.abs(exponent)).padStart(2, "0");
  return `${first}${precision > 0 ? `.${fraction}` : ""}${letter}${exponent < 0 ? "-" : "+"}${shown}`;
}

/**
 * Formats a number without its sign by a verb of C's printf: `e`, `E`, `f`, `g`, `G`. Without precision `e` and `f`
 * show six digits behind the point, `g` as many as it takes.
 */
export function formatFloat(value: HclNumber, verb: string, precision: number | undefined): string {
  if (isInfinite(value)) return "Inf";
  const letter = verb === "E" || verb === "G" ? "E" : "e";
  if (verb === "f") {
    const places = precision ?? 6;
    const exact = exactDecimal(value);
    return fixed(roundDecimal(exact, exact.power + places), places);
  }
  if (verb === "e" || verb === "E")
    return scientific(roundDecimal(exactDecimal(value), (precision ?? 6) + 1), precision ?? 6, letter);
  const wanted = precision === 0 ? 1 : precision;
  const decimal = wanted === undefined ? shortestDecimal(value) : roundDecimal(exactDecimal(value), wanted);
  const shown = Math.max(decimal.digits.length, 1);
  const limit =
    wanted === undefined
      ? 6
      : wanted > decimal.digits.length && decimal.digits.length >= decimal.power
        ? decimal.digits.length
        : wanted;
  const exponent = decimal.power - 1;
  if (decimal.digits !== "" && (exponent < -4 || exponent >= limit)) return scientific(decimal, shown - 1, letter);
  return fixed(decimal, Math.max(decimal.digits.length - decimal.power, 0));
}

/** The number as `%v` shows it: short, with an exponent where it is large or small. */
export function formatGeneral(value: HclNumber): string {
  return `${isMinus(value) ? "-" : isInfinite(value) ? "+" : ""}${formatFloat(value, "g", undefined)}`;
}

/** The number without its sign in base 2, 8, 10 or 16; `undefined` when it is no integer. */
export function formatInteger(value: HclNumber, verb: string): string | undefined {
  const exact = exactInteger(value);
  if (exact === undefined) return undefined;
  const text = (exact < 0n ? -exact : exact).toString({ b: 2, o: 8, x: 16, X: 16 }[verb] ?? 10);
  return verb === "X" ? text.toUpperCase() : text;
}
