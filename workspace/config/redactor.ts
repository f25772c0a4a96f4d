import { Redactor as Net } from "../../model/redact.ts";
import { redactedMarker } from "../../model/redact-patterns.ts";

/** Hides secret values in anything that is shown or logged (workspace §16, design D25). What is executed is never touched. */
export interface Redactor {
  /** Registers a value; those shorter than 4 characters are not hidden, because they would blot out ordinary text. */
  add(value: string): void;
  /** The text with every registered value as `***`, and whatever looks like a credential masked too (design D25). */
  redact(text: string): string;
}

const shortest = 4;

/** An empty redactor. Longer values are replaced first, so that a value inside another one leaves no remainder. */
export function createRedactor(values: Iterable<string> = []): Redactor {
  const known = new Set<string>();
  const net = new Net();
  let ordered: readonly string[] = [];
  const add = (value: string): void => {
    // A value that shells trim, and each line of one with several: output shows them line by line.
    for (const part of [value, value.trim(), ...value.split("\n").map((line) => line.trim())]) {
      if (part.length >= shortest) known.add(part);
    }
    ordered = [...known].sort((a, b) => b.length - a.length);
  };
  for (const value of values) add(value);
  return {
    add,
    redact(text) {
      let result = text;
      for (const value of ordered) result = result.replaceAll(value, "***");
      return net.text(result).replaceAll(redactedMarker, "***");
    },
  };
}
