/** A filter that cannot be read, or not be applied; the message is go-bexpr's. */
export class FilterError extends Error {}

/** Reads a text by ordered choice and remembers how far it came and what it would have liked to see there. */
export class Peg {
  readonly text: string;
  at = 0;
  #furthest = 0;
  #expected = new Set<string>();

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  #miss(what: string): void {
    if (this.at > this.#furthest) {
      this.#furthest = this.at;
      this.#expected = new Set();
    }
    if (this.at === this.#furthest) this.#expected.add(what);
  }

  literal(word: string): boolean {
    if (this.text.startsWith(word, this.at)) {
      this.at += word.length;
      return true;
    }
    this.#miss(word === "`" ? '"`"' : JSON.stringify(word));
    return false;
  }

  /** Takes what a pattern matches here; `label` is how the class of its first character is shown. */
  pattern(pattern: RegExp, label: string): string | undefined {
    const found = pattern.exec(this.text.slice(this.at));
    if (found === null || found.index !== 0 || found[0] === "") {
      this.#miss(label);
      return undefined;
    }
    this.at += found[0].length;
    return found[0];
  }

  /** One or more blanks. */
  space(): boolean {
    const found = this.pattern(/^[ \t\r\n]+/, "[ \\t\\r\\n]") !== undefined;
    // A run of blanks could always have been longer.
    if (found) this.#miss("[ \\t\\r\\n]");
    return found;
  }

  end(): boolean {
    if (this.done) return true;
    this.#miss("EOF");
    return false;
  }

  /** Tries a rule; puts the place back when it fails. */
  attempt<T>(rule: () => T | undefined): T | undefined {
    const start = this.at;
    const found = rule();
    if (found === undefined) this.at = start;
    return found;
  }

  #place(at: number): string {
    const before = this.text.slice(0, at);
    const line = before.split("\n").length;
    return `${line}:${at - (before.lastIndexOf("\n") + 1) + 1} (${at})`;
  }

  /** The error of a text that no rule takes. */
  noMatch(): FilterError {
    const names = [...this.#expected].filter((name) => name !== "EOF").sort();
    if (this.#expected.has("EOF")) names.push("EOF");
    const last = names.pop() ?? "";
    const list = names.length === 0 ? last : `${names.join(", ")} or ${last}`;
    return new FilterError(`${this.#place(this.#furthest)}: no match found, expected: ${list}`);
  }

  /** The error of a rule that knows what is wrong. */
  refuse(rule: string, why: string): FilterError {
    return new FilterError(`${this.#place(this.at)}: rule "${rule}": ${why}`);
  }
}
