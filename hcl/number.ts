/**
 * Numbers as HCL has them: binary floating point with a mantissa of 512 bits, so that every integer and every decimal
 * a person writes survives, and `1 / 3` prints as it does in Nomad.
 */
export interface HclNumber {
  /** Odd, or 0 for zero; ±1 for the infinities. */
  readonly mantissa: bigint;
  /** The value is mantissa · 2^exponent; `Infinity` for the infinities. */
  readonly exponent: number;
  /** Zero has a sign, which its text shows. */
  readonly minus?: true;
}

const PRECISION = 512;
/** Exponents beyond this would make decimal conversion run for minutes. */
const MAX_DECIMAL_EXPONENT = 20_000;

export const ZERO: HclNumber = { mantissa: 0n, exponent: 0 };
const MINUS_ZERO: HclNumber = { mantissa: 0n, exponent: 0, minus: true };

/** Below zero, or the zero that has a sign. */
export function isMinus(value: HclNumber): boolean {
  return value.mantissa < 0n || value.minus === true;
}

/** Zero, with the sign that products and quotients of two numbers have. */
function zeroOf(a: HclNumber, b: HclNumber): HclNumber {
  return isMinus(a) === isMinus(b) ? ZERO : MINUS_ZERO;
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : (value < 0n ? -value : value).toString(16).length * 4 - leadingZeroBits(value);
}

function leadingZeroBits(value: bigint): number {
  const [first] = (value < 0n ? -value : value).toString(16);
  return Math.clz32(Number.parseInt(first ?? "0", 16)) - 28;
}

/** Divides by a power of two, to nearest, ties to even. `sticky` says that something below was cut off already. */
function shiftRight(value: bigint, bits: number, sticky: boolean): bigint {
  if (bits <= 0) return value << BigInt(-bits);
  const shift = BigInt(bits);
  const quotient = value >> shift;
  const rest = value - (quotient << shift);
  const half = 1n << (shift - 1n);
  if (rest > half || (rest === half && (sticky || (quotient & 1n) === 1n))) return quotient + 1n;
  return quotient;
}

/** Rounds mantissa · 2^exponent to the precision and makes the mantissa odd. */
function normalize(mantissa: bigint, exponent: number, sticky = false): HclNumber {
  if (mantissa === 0n) return ZERO;
  const negative = mantissa < 0n;
  let magnitude = negative ? -mantissa : mantissa;
  let power = exponent;
  const excess = bitLength(magnitude) - PRECISION;
  if (excess > 0) {
    magnitude = shiftRight(magnitude, excess, sticky);
    power += excess;
  }
  const zeros = trailingZeroBits(magnitude);
  magnitude >>= BigInt(zeros);
  return { mantissa: negative ? -magnitude : magnitude, exponent: power + zeros };
}

function trailingZeroBits(value: bigint): number {
  let zeros = 0;
  let rest = value;
  while ((rest & 0xffffffffn) === 0n) {
    rest >>= 32n;
    zeros += 32;
  }
  const low = Number(rest & 0xffffffffn);
  return zeros + (31 - Math.clz32(low & -low));
}

export function numberFromInteger(value: number | bigint): HclNumber {
  return normalize(BigInt(value), 0);
}

/** The exact value of a double; not for NaN. */
export function numberFromDouble(value: number): HclNumber {
  if (!Number.isFinite(value)) return { mantissa: value > 0 ? 1n : -1n, exponent: Number.POSITIVE_INFINITY };
  let exponent = 0;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent -= 1;
  }
  return normalize(BigInt(scaled), exponent);
}

const DECIMAL = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;

/** Reads a decimal number; `undefined` when the text is none, or out of all proportion. */
export function parseNumber(text: string): HclNumber | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", power = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const scale = Number(power) - fraction.length;
  if (Math.abs(scale) > MAX_DECIMAL_EXPONENT) return undefined;
  const digits = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n);
  if (digits === 0n) return sign === "-" ? MINUS_ZERO : ZERO;
  return scale >= 0 ? normalize(digits * 10n ** BigInt(scale), 0) : quotient(digits, 10n ** BigInt(-scale), 0);
}

/** numerator / denominator · 2^exponent, rounded. */
function quotient(numerator: bigint, denominator: bigint, exponent: number): HclNumber {
  const negative = numerator < 0n !== denominator < 0n;
  const top = numerator < 0n ? -numerator : numerator;
  const bottom = denominator < 0n ? -denominator : denominator;
  const shift = Math.max(0, PRECISION + 2 - (bitLength(top) - bitLength(bottom)));
  const scaled = top << BigInt(shift);
  const result = scaled / bottom;
  const rounded = normalize(result, exponent - shift, result * bottom !== scaled);
  return negative ? negate(rounded) : rounded;
}

export function isInfinite(value: HclNumber): boolean {
  return value.exponent === Number.POSITIVE_INFINITY;
}

export function negate(value: HclNumber): HclNumber {
  if (value.mantissa === 0n) return value.minus === true ? ZERO : MINUS_ZERO;
  return { mantissa: -value.mantissa, exponent: value.exponent };
}

/** The number without its sign. */
export function magnitude(value: HclNumber): HclNumber {
  return isMinus(value) ? negate(value) : value;
}

export function signOf(value: HclNumber): -1 | 0 | 1 {
  return value.mantissa > 0n ? 1 : value.mantissa < 0n ? -1 : 0;
}

function aligned(a: HclNumber, b: HclNumber): readonly [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.mantissa << BigInt(a.exponent - exponent), b.mantissa << BigInt(b.exponent - exponent), exponent];
}

/** Sum; the sum of opposite infinities is `undefined`. */
export function add(a: HclNumber, b: HclNumber): HclNumber | undefined {
  if (isInfinite(a) || isInfinite(b)) {
    if (isInfinite(a) && isInfinite(b) && a.mantissa !== b.mantissa) return undefined;
    return isInfinite(a) ? a : b;
  }
  if (a.minus === true && b.minus === true) return MINUS_ZERO;
  const [left, right, exponent] = aligned(a, b);
  return normalize(left + right, exponent);
}

/** Product; zero times infinity is `undefined`. */
export function multiply(a: HclNumber, b: HclNumber): HclNumber | undefined {
  if (isInfinite(a) || isInfinite(b)) {
    const sign = signOf(a) * signOf(b);
    return sign === 0 ? undefined : numberFromDouble(sign * Number.POSITIVE_INFINITY);
  }
  if (a.mantissa === 0n || b.mantissa === 0n) return zeroOf(a, b);
  return normalize(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

/** Quotient; `undefined` when dividing zero by zero or infinity by infinity. */
export function divide(a: HclNumber, b: HclNumber): HclNumber | undefined {
  if (isInfinite(a) && isInfinite(b)) return undefined;
  if (isInfinite(b)) return zeroOf(a, b);
  if (b.mantissa === 0n) return a.mantissa === 0n ? undefined : numberFromDouble(signOf(a) * Number.POSITIVE_INFINITY);
  if (isInfinite(a)) return numberFromDouble(signOf(a) * signOf(b) * Number.POSITIVE_INFINITY);
  if (a.mantissa === 0n) return zeroOf(a, b);
  return quotient(a.mantissa, b.mantissa, a.exponent - b.exponent);
}

export function compareNumbers(a: HclNumber, b: HclNumber): number {
  if (isInfinite(a) || isInfinite(b)) return (isInfinite(a) ? signOf(a) : 0) - (isInfinite(b) ? signOf(b) : 0);
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Towards zero; the infinities have no integer part. */
export function truncate(value: HclNumber): bigint | undefined {
  if (isInfinite(value)) return undefined;
  if (value.exponent >= 0) return value.mantissa << BigInt(value.exponent);
  return value.mantissa / (1n << BigInt(-value.exponent));
}

/** The value as an integer, when it is one. */
export function exactInteger(value: HclNumber): bigint | undefined {
  return isInfinite(value) || value.exponent < 0 ? undefined : value.mantissa << BigInt(value.exponent);
}

/** The value as an integer a double holds exactly. */
export function safeInteger(value: HclNumber): number | undefined {
  const exact = exactInteger(value);
  if (exact === undefined || exact > BigInt(Number.MAX_SAFE_INTEGER) || exact < BigInt(Number.MIN_SAFE_INTEGER)) return undefined;
  return Number(exact);
}

/** The nearest double. */
export function toDouble(value: HclNumber): number {
  if (isInfinite(value)) return Number(value.mantissa) * Number.POSITIVE_INFINITY;
  const excess = bitLength(value.mantissa) - 64;
  if (excess <= 0) return Number(value.mantissa) * 2 ** value.exponent;
  // One more sticky bit keeps the second rounding honest.
  const kept = value.mantissa >> BigInt(excess);
  return Number((kept << 1n) | 1n) * 2 ** (value.exponent + excess - 1);
}

/** Digits and decimal exponent of the shortest decimal that reads back as the same number: 0.d1d2… · 10^power. */
function shortestDecimal(value: HclNumber): { readonly digits: string; readonly power: number } {
  const magnitude = value.mantissa < 0n ? -value.mantissa : value.mantissa;
  // Bring the mantissa to full precision, so that one unit is the distance to the next number.
  const lift = PRECISION - bitLength(magnitude);
  const mantissa = magnitude << BigInt(lift);
  const exponent = value.exponent - lift;
  const atPower = mantissa === 1n << BigInt(PRECISION - 1);
  let numerator = mantissa * 4n;
  let denominator = 4n;
  let above = 2n;
  let below = atPower ? 1n : 2n;
  if (exponent >= 0) {
    const scale = 1n << BigInt(exponent);
    numerator *= scale;
    above *= scale;
    below *= scale;
  } else denominator <<= BigInt(-exponent);
  let power = Math.ceil((exponent + PRECISION) * Math.LOG10E * Math.LN2 - 1e-10);
  if (power >= 0) denominator *= 10n ** BigInt(power);
  else {
    const scale = 10n ** BigInt(-power);
    numerator *= scale;
    above *= scale;
    below *= scale;
  }
  // The estimate may be one too small or one too large.
  if (numerator + above > denominator) {
    denominator *= 10n;
    power += 1;
  }
  while ((numerator + above) * 10n <= denominator) {
    numerator *= 10n;
    above *= 10n;
    below *= 10n;
    power -= 1;
  }
  const inclusive = (mantissa & 1n) === 0n;
  let digits = "";
  for (;;) {
    numerator *= 10n;
    above *= 10n;
    below *= 10n;
    let digit = numerator / denominator;
    numerator -= digit * denominator;
    const low = inclusive ? numerator <= below : numerator < below;
    const high = inclusive ? numerator + above >= denominator : numerator + above > denominator;
    if (low || high) {
      if (high && (!low || numerator * 2n >= denominator)) digit += 1n;
      digits += digit.toString();
      return { digits, power };
    }
    digits += digit.toString();
  }
}

/** The number in decimal notation without exponent, as short as it can be: `1.5`, `3`, `-0.25`. */
export function formatNumber(value: HclNumber): string {
  if (isInfinite(value)) return value.mantissa > 0n ? "+Inf" : "-Inf";
  if (value.mantissa === 0n) return value.minus === true ? "-0" : "0";
  const sign = value.mantissa < 0n ? "-" : "";
  const exact = value.exponent >= 0 && value.exponent < PRECISION ? exactInteger(value) : undefined;
  if (exact !== undefined && bitLength(exact) <= PRECISION) return exact.toString();
  const { digits, power } = shortestDecimal(value);
  if (power <= 0) return `${sign}0.${"0".repeat(-power)}${digits}`;
  if (digits.length <= power) return sign + digits + "0".repeat(power - digits.length);
  return `${sign}${digits.slice(0, power)}.${digits.slice(power)}`;
}
