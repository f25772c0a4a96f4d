/**
 * JSON in which no integer loses digits.
 *
 * A job may hold 64-bit integers (driver configuration, durations in nanoseconds) that a JavaScript number cannot carry.
 * Only those are decoded as a marked string, `"\u0000int:" + digits`; every other value is what `JSON.parse` makes of it.
 * A marked string is plain data: it passes `JSON.stringify`, canonical JSON, the database and `JSON.parse` unchanged,
 * so a specification can be hashed and stored without knowing about it. `encodeExact` writes it back as the bare digits.
 * A string of that very form that comes from outside would be sent as a number; Nomad then refuses it where a string is due.
 */
const MARK = "\u0000int:";

const LONG_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;
// In the output of JSON.stringify a quote inside a string always follows a backslash, an opening one never does.
const MARKED_TOKEN = /(?<!\\)"\\u0000int:(-?\d+)"/g;

const QUOTE = 34;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const BACKSLASH = 92;

/**
 * Parses JSON without losing digits of integers (see above). Costs one scan more than `JSON.parse`, and only when the
 * text holds a run of 16 digits at all.
 * @throws SyntaxError for text that is not JSON.
 */
export function decodeExact(text: string): unknown {
  return JSON.parse(LONG_DIGITS.test(text) ? markIntegers(text) : text);
}

/** `JSON.stringify` that writes marked integers as their digits. */
export function encodeExact(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes("\\u0000int:") ? text.replace(MARKED_TOKEN, "$1") : text;
}

/** The nearest number, for values that are only shown or compared roughly (times in nanoseconds). */
export function approximate(value: unknown): unknown {
  return typeof value === "string" && value.startsWith(MARK) ? Number(value.slice(MARK.length)) : value;
}

function markIntegers(text: string): string {
  let out = "";
  let copied = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      const token = end - at < 16 ? "" : text.slice(at, end);
      if (INTEGER.test(token) && String(Number(token)) !== token) {
        out += `${text.slice(copied, at)}"\\u0000int:${token}"`;
        copied = end;
      }
      at = end;
    } else {
      at += 1;
    }
  }
  return out + text.slice(copied);
}

/** Index after the closing quote of the string that opens at `start`; the length of the text when it never closes. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

/** Index after a run of characters that numbers are made of; JSON.parse judges whether it is one. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const partOfNumber = isDigit(code) || code === MINUS || code === 43 || code === 46 || code === 69 || code === 101;
    if (!partOfNumber) break;
    at += 1;
  }
  return at;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
