const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1_000,
  µs: 1_000,
  μs: 1_000,
  ms: 1_000_000,
  s: 1_000_000_000,
  m: 60_000_000_000,
  h: 3_600_000_000_000,
};

/** More nanoseconds than this do not fit into Go's type. */
const MAX = 2 ** 63;

/** A duration as Go writes it ("1h30m", "1.5s", "-3ms") in nanoseconds, or what is wrong with the text. */
export function durationOf(text: string): number | { readonly problem: string } {
  const quoted = quote(text);
  const invalid = { problem: `time: invalid duration ${quoted}` };
  const sign = /^[+-]/.exec(text)?.[0] ?? "";
  let rest = text.slice(sign.length);
  if (rest === "0") return 0;
  if (rest === "") return invalid;
  let total = 0;
  while (rest !== "") {
    const [whole = "", digits = "", fraction] = /^(\d*)(?:\.(\d*))?/.exec(rest) ?? [];
    if (digits === "" && (fraction ?? "") === "") return invalid;
    rest = rest.slice(whole.length);
    const unit = /^[^\d.]+/.exec(rest)?.[0] ?? "";
    if (unit === "") return { problem: `time: missing unit in duration ${quoted}` };
    const size = UNITS[unit];
    if (size === undefined) return { problem: `time: unknown unit ${quote(unit)} in duration ${quoted}` };
    rest = rest.slice(unit.length);
    // Whole digits times a scaled unit: 0.524202 s comes out exact, which it would not as a binary fraction.
    const fractional = (fraction ?? "").slice(0, 18);
    total += Number(digits || "0") * size + Math.trunc(Number(fractional || "0") * (size / 10 ** fractional.length));
    if (total > MAX) return invalid;
  }
  return sign === "-" ? -total : total;
}

/** As Go's package time quotes: everything beyond printable ASCII as bytes. */
function quote(text: string): string {
  let quoted = "";
  for (const byte of new TextEncoder().encode(text)) {
    const char = String.fromCharCode(byte);
    if (byte < 0x20 || byte >= 0x80) quoted += `\\x${byte.toString(16).padStart(2, "0")}`;
    else quoted += char === '"' || char === "\\" ? `\\${char}` : char;
  }
  return `"${quoted}"`;
}
