/** A filter that cannot be read, or not be applied; the message is go-bexpr's. */
export class FilterError extends Error {}

const failed = Symbol("no match");

/** A rule of a grammar: what it makes of the text from where the reader stands, or `failed`. */
export type Rule<T = unknown> = (reader: Reader) => T | typeof failed;

/** Where a text is read, how far any rule came in it, and what it would have liked to see there. */
export class Reader {
  readonly text: string;
  at = 0;
  readonly rules: string[] = [];
  readonly problems = new Set<string>();
  #furthest = 0;
  #wanted = new Set<string>();
  #inverted = false;

  constructor(text: string) {
    this.text = text;
  }

  /** Notes what was looked for; a success counts where it is what must not be. */
  note(success: boolean, at: number, wanted: string): void {
    if (success !== this.#inverted || at < this.#furthest) return;
    if (at > this.#furthest) {
      this.#furthest = at;
      this.#wanted = new Set();
    }
    this.#wanted.add(this.#inverted ? `!${wanted}` : wanted);
  }

  inverted<T>(rule: () => T): T {
    this.#inverted = !this.#inverted;
    try {
      return rule();
    } finally {
      this.#inverted = !this.#inverted;
    }
  }

  /** A problem that a rule knows the reason of; it stays also where another rule fits afterwards. */
  refuse(why: string, at = this.at): void {
    this.problems.add(`${this.#place(at)}: rule ${this.rules.at(-1) ?? ""}: ${why}`);
  }

  /** Line, column and byte offset; a line end counts as the beginning of the next line. */
  #place(at: number): string {
    const [line, column] = [...this.text.slice(0, at), this.text.slice(at)[0] ?? ""].reduce(
      ([l, c], char) => (char === "\n" ? [l + 1, 0] : [l, c + 1]),
      [1, 0],
    );
    return `${line}:${column} (${Buffer.byteLength(this.text.slice(0, at))})`;
  }

  /** Why nothing fits. */
  noMatch(): string {
    const names = [...this.#wanted].filter((name) => name !== "!.").sort();
    if (this.#wanted.has("!.")) names.push("EOF");
    const last = names.pop() ?? "";
    const list = names.length === 0 ? last : `${names.join(", ")} or ${last}`;
    return `${this.#place(this.#furthest)}: no match found, expected: ${list}`;
  }
}

/** Reads a whole text by a rule. Throws FilterError with everything that was wrong. */
export function readAll<T>(rule: Rule<T>, text: string): T {
  const reader = new Reader(text);
  const found = rule(reader);
  if (found === failed && reader.problems.size === 0) throw new FilterError(reader.noMatch());
  if (found === failed || reader.problems.size > 0) throw new FilterError([...reader.problems].join("\n"));
  return found;
}

export function literal(word: string): Rule<string> {
  const wanted = JSON.stringify(word);
  return (reader) => {
    const fits = reader.text.startsWith(word, reader.at);
    reader.note(fits, reader.at, wanted);
    if (!fits) return failed;
    reader.at += word.length;
    return word;
  };
}

/** One character; `name` is how its class is told. */
export function char(pattern: RegExp, name: string): Rule<string> {
  return (reader) => {
    const code = reader.text.codePointAt(reader.at);
    const one = code === undefined ? "" : String.fromCodePoint(code);
    const fits = one !== "" && pattern.test(one);
    reader.note(fits, reader.at, name);
    if (!fits) return failed;
    reader.at += one.length;
    return one;
  };
}

/** All of these, one after the other. */
export function sequence<T extends readonly unknown[]>(...rules: { readonly [I in keyof T]: Rule<T[I]> }): Rule<T> {
  return (reader) => {
    const start = reader.at;
    const found: unknown[] = [];
    for (const rule of rules) {
      const one = (rule as Rule)(reader);
      if (one === failed) {
        reader.at = start;
        return failed;
      }
      found.push(one);
    }
    return found as unknown as T;
  };
}

/** The first of these that fits. */
export function choice<T>(...rules: readonly Rule<T>[]): Rule<T> {
  return (reader) => {
    for (const rule of rules) {
      const found = rule(reader);
      if (found !== failed) return found;
    }
    return failed;
  };
}

export function many<T>(rule: Rule<T>, atLeast = 0): Rule<T[]> {
  return (reader) => {
    const found: T[] = [];
    for (let one = rule(reader); one !== failed; one = rule(reader)) found.push(one);
    return found.length < atLeast ? failed : found;
  };
}

export function optional<T>(rule: Rule<T>): Rule<T | undefined> {
  return (reader) => {
    const found = rule(reader);
    return found === failed ? undefined : found;
  };
}

/** Fits where a rule does, and takes nothing. */
export function ahead(rule: Rule): Rule<true> {
  return (reader) => {
    const start = reader.at;
    const found = rule(reader);
    reader.at = start;
    return found === failed ? failed : true;
  };
}

/** Fits where a rule does not, and takes nothing. */
export function not(rule: Rule): Rule<true> {
  return (reader) => {
    const start = reader.at;
    const found = reader.inverted(() => rule(reader));
    reader.at = start;
    return found === failed ? true : failed;
  };
}

/** Fits never, and says why. */
export function refusing<T>(why: string): Rule<T> {
  return (reader) => {
    reader.refuse(why);
    return failed;
  };
}

/** What is wrong with a text that fits, and what is made of it nonetheless. */
export class Problem<B> {
  readonly problem: string;
  readonly instead: B;

  constructor(problem: string, instead: B) {
    this.problem = problem;
    this.instead = instead;
  }
}

/** What a rule found, as something else; or a problem where it begins. */
export function map<A, B>(rule: Rule<A>, make: (found: A, text: string) => B | Problem<B>): Rule<B> {
  return (reader) => {
    const start = reader.at;
    const found = rule(reader);
    if (found === failed) return failed;
    const made = make(found, reader.text.slice(start, reader.at));
    if (!(made instanceof Problem)) return made;
    reader.refuse(made.problem, start);
    return made.instead;
  };
}

/** A rule with a name, by which its problems are told; made when it is first needed, so that rules may need each other. */
export function named<T>(name: string, make: () => Rule<T>): Rule<T> {
  let rule: Rule<T> | undefined;
  return (reader) => {
    rule ??= make();
    reader.rules.push(name);
    const found = rule(reader);
    reader.rules.pop();
    return found;
  };
}
