import type { Clock, Random } from "./clock.ts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const values: ReadonlyMap<string, number> = new Map([...alphabet].map((character, value) => [character, value]));
const timeDigits = 10;
const randomDigits = 16;
const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Whether a text is a ULID in canonical form: 26 upper-case Crockford base 32 digits, at most 128 bits. */
export function isUlid(text: string): boolean {
  return pattern.test(text);
}

/** Milliseconds since the epoch that a ULID carries. The text must satisfy `isUlid`. */
export function ulidTime(ulid: string): number {
  return [...ulid.slice(0, timeDigits)].reduce((time, character) => time * 32 + (values.get(character) ?? 0), 0);
}

/**
 * A source of ULIDs that are strictly increasing as text, whatever the clock does: when the clock stands still or goes back,
 * the next ID is the last one plus one. `after` is the greatest ID given out before (by an earlier process), so that the
 * order of IDs is the order of creation for ever.
 * @throws RangeError when 128 bits are used up, which no clock before the year 10889 reaches.
 */
export function ulidSource(clock: Clock, random: Random, after?: string): () => string {
  let last = after !== undefined && isUlid(after) ? after : "";
  return () => {
    const fresh = timePart(clock.now()) + randomPart(random);
    // The time parts decide: a fresh random part of the same millisecond could be smaller than the last one.
    last = last !== "" && fresh.slice(0, timeDigits) <= last.slice(0, timeDigits) ? successor(last) : fresh;
    return last;
  };
}

function timePart(ms: number): string {
  let rest = Math.max(0, Math.floor(ms));
  let text = "";
  for (let digit = 0; digit < timeDigits; digit++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function randomPart(random: Random): string {
  let text = "";
  for (const byte of random.bytes(randomDigits)) text += alphabet.charAt(byte & 31);
  return text;
}

function successor(ulid: string): string {
  const digits = [...ulid];
  for (let place = digits.length - 1; place >= 0; place--) {
    const value = values.get(digits[place] ?? "") ?? 0;
    if (value < 31) {
      digits[place] = alphabet.charAt(value + 1);
      const next = digits.join("");
      if (!isUlid(next)) break;
      return next;
    }
    digits[place] = "0";
  }
  throw new RangeError("ULIDs are used up");
}
