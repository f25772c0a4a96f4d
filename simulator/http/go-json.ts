/** The text with which Go's decoder refuses a body that JSON.parse refuses too. */
export function goJsonError(text: string): string {
  return new Scanner(text).scan();
}

const EOF = "unexpected EOF";

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): string {
    try {
      this.#value("looking for beginning of value");
    } catch (error) {
      if (error instanceof Error) return error.message;
    }
    return EOF;
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #fail(context: string): never {
    const char = this.#text[this.#at];
    if (char === undefined) throw new Error(EOF);
    const shown = char === "'" ? `'\\''` : char === '"' ? `'"'` : `'${char}'`;
    throw new Error(`invalid character ${shown} ${context}`);
  }

  #value(context: string): void {
    this.#space();
    const char = this.#text[this.#at];
    const word = ["true", "false", "null"].find((one) => one[0] === char);
    if (char === "{") this.#object();
    else if (char === "[") this.#array();
    else if (char === '"') this.#string();
    else if (char !== undefined && /[-0-9]/.test(char)) this.#number();
    else if (word !== undefined) this.#word(word);
    else this.#fail(context);
  }

  #word(word: string): void {
    for (let i = 0; i < word.length; i++, this.#at++) {
      if (this.#text[this.#at] !== word[i]) this.#fail(`in literal ${word} (expecting '${word[i]}')`);
    }
  }

  #number(): void {
    const found = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/.exec(this.#text.slice(this.#at));
    if (found === null) {
      this.#at++;
      this.#fail("in numeric literal");
    }
    this.#at += found[0].length;
  }

  #string(): void {
    for (this.#at++; this.#text[this.#at] !== '"'; this.#at++) {
      const char = this.#text[this.#at];
      if (char === undefined) throw new Error(EOF);
      if (char < " ") this.#fail("in string literal");
      if (char !== "\\") continue;
      this.#at++;
      if (!/["\\/bfnrtu]/.test(this.#text[this.#at] ?? "")) this.#fail("in string escape code");
    }
    this.#at++;
  }

  #object(): void {
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "}") return void this.#at++;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') this.#fail("looking for beginning of object key string");
      this.#string();
      this.#space();
      if (this.#text[this.#at] !== ":") this.#fail("after object key");
      this.#at++;
      this.#value("looking for beginning of value");
      this.#space();
      if (this.#text[this.#at] === "}") return void this.#at++;
      if (this.#text[this.#at] !== ",") this.#fail("after object key:value pair");
      this.#at++;
    }
  }

  #array(): void {
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "]") return void this.#at++;
    for (;;) {
      this.#value("looking for beginning of value");
      this.#space();
      if (this.#text[this.#at] === "]") return void this.#at++;
      if (this.#text[this.#at] !== ",") this.#fail("after array element");
      this.#at++;
    }
  }
}
