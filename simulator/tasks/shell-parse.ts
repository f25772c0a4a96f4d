/** The small part of shell that job files use in `sh -c "…"`. */

export type Word = { readonly text: string; readonly quoted: boolean };
type Token = { readonly kind: "word"; readonly word: Word } | { readonly kind: "op"; readonly op: string };

export type Command =
  | {
      readonly kind: "simple";
      readonly words: readonly Word[];
      readonly redirects: readonly { readonly op: string; readonly target: string }[];
    }
  | { readonly kind: "pipe"; readonly parts: readonly Command[] }
  | { readonly kind: "and" | "or"; readonly left: Command; readonly right: Command }
  | { readonly kind: "not"; readonly body: Command }
  | { readonly kind: "list"; readonly items: readonly Command[] }
  | { readonly kind: "background" | "subshell"; readonly body: Command }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly test: Command; readonly body: Command }[];
      readonly otherwise: Command | undefined;
    }
  | { readonly kind: "loop"; readonly until: boolean; readonly test: Command; readonly body: Command }
  | { readonly kind: "for"; readonly name: string; readonly words: readonly Word[]; readonly body: Command };

const operators = ["&&", "||", ";;", ">>", "2>&1", "2>", "1>", ">&2", ">&1", "&>", ">", "<", ";", "&", "|", "(", ")", "\n"];

/** Splits a script into words and operators. Variables stay in the words, marked by `$`; single-quoted `$` becomes U+0000. */
export function tokenize(script: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < script.length) {
    const char = script[at] ?? "";
    if (char === " " || char === "\t" || char === "\r") at++;
    else if (char === "\\" && script[at + 1] === "\n") at += 2;
    else if (char === "#") while (at < script.length && script[at] !== "\n") at++;
    else {
      const op = operators.find((one) => script.startsWith(one, at));
      if (op !== undefined) {
        tokens.push({ kind: "op", op });
        at += op.length;
      } else {
        const [word, next] = readWord(script, at);
        tokens.push({ kind: "word", word });
        at = next;
      }
    }
  }
  return tokens;
}

function readWord(script: string, start: number): [Word, number] {
  let text = "";
  let quoted = false;
  let at = start;
  for (; at < script.length; at++) {
    const char = script[at] ?? "";
    if (char === "'") {
      const end = script.indexOf("'", at + 1);
      const stop = end < 0 ? script.length : end;
      text += script.slice(at + 1, stop).replaceAll("$", "\u0000");
      quoted = true;
      at = stop;
    } else if (char === '"') {
      quoted = true;
      for (at++; at < script.length && script[at] !== '"'; at++) {
        if (script[at] === "\\" && '"\\$`'.includes(script[at + 1] ?? " ")) at++;
        const inner = script[at] ?? "";
        text += inner === "$" && script[at - 1] === "\\" ? "\u0000" : inner;
      }
    } else if (char === "\\") {
      at++;
      text += script[at] === "$" ? "\u0000" : (script[at] ?? "");
    } else if (char === "$" && script[at + 1] === "(") {
      const end = closing(script, at + 1);
      text += script.slice(at, end + 1);
      at = end;
    } else if (char === "$" && script[at + 1] === "{") {
      const end = script.indexOf("}", at);
      const stop = end < 0 ? script.length : end;
      text += script.slice(at, stop + 1);
      at = stop;
    } else if (/\s/.test(char) || ";&|()<>".includes(char)) break;
    else text += char;
  }
  return [{ text, quoted }, Math.max(at, start + 1)];
}

function closing(script: string, open: number): number {
  let depth = 0;
  for (let at = open; at < script.length; at++) {
    if (script[at] === "(") depth++;
    else if (script[at] === ")" && --depth === 0) return at;
  }
  return script.length;
}

const closers = new Set(["then", "else", "elif", "fi", "do", "done", "}", "esac"]);

/** Parses a script. What it does not know is read as a plain command; it never throws. */
export function parseScript(script: string): Command {
  return new Parser(tokenize(script)).list();
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #isWord(text: string): boolean {
    const token = this.#peek();
    return token?.kind === "word" && !token.word.quoted && token.word.text === text;
  }

  #isOp(...ops: readonly string[]): boolean {
    const token = this.#peek();
    return token?.kind === "op" && ops.includes(token.op);
  }

  #skip(...ops: readonly string[]): void {
    while (this.#isOp(...ops)) this.#at++;
  }

  #eat(word: string): void {
    if (this.#isWord(word)) this.#at++;
  }

  list(): Command {
    const items: Command[] = [];
    for (;;) {
      this.#skip(";", "\n", ";;");
      const token = this.#peek();
      if (token === undefined || this.#isOp(")")) break;
      if (token.kind === "word" && !token.word.quoted && closers.has(token.word.text)) break;
      const before = this.#at;
      const item = this.#andOr();
      if (this.#isOp("&")) {
        this.#at++;
        items.push({ kind: "background", body: item });
      } else items.push(item);
      // A token that no rule takes must not hold the parser up.
      if (this.#at === before) this.#at++;
    }
    return { kind: "list", items };
  }

  #andOr(): Command {
    let left = this.#pipe();
    while (this.#isOp("&&", "||")) {
      const and = this.#isOp("&&");
      this.#at++;
      this.#skip("\n");
      left = { kind: and ? "and" : "or", left, right: this.#pipe() };
    }
    return left;
  }

  #pipe(): Command {
    const parts = [this.#command()];
    while (this.#isOp("|")) {
      this.#at++;
      this.#skip("\n");
      parts.push(this.#command());
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "pipe", parts };
  }

  #command(): Command {
    if (this.#isWord("!")) {
      this.#at++;
      return { kind: "not", body: this.#command() };
    }
    if (this.#isOp("(")) return { kind: "subshell", body: this.#group(")") };
    if (this.#isWord("{")) return this.#group("}");
    if (this.#isWord("if")) return this.#if();
    if (this.#isWord("while") || this.#isWord("until")) return this.#loop();
    if (this.#isWord("for")) return this.#for();
    return this.#simple();
  }

  #group(end: string): Command {
    this.#at++;
    const body = this.list();
    if (this.#isOp(end) || this.#isWord(end)) this.#at++;
    return body;
  }

  #if(): Command {
    const branches: { test: Command; body: Command }[] = [];
    let otherwise: Command | undefined;
    while (this.#isWord("if") || this.#isWord("elif")) {
      this.#at++;
      const test = this.list();
      this.#eat("then");
      branches.push({ test, body: this.list() });
    }
    if (this.#isWord("else")) {
      this.#at++;
      otherwise = this.list();
    }
    this.#eat("fi");
    return { kind: "if", branches, otherwise };
  }

  #loop(): Command {
    const until = this.#isWord("until");
    this.#at++;
    const test = this.list();
    return { kind: "loop", until, test, body: this.#body() };
  }

  #for(): Command {
    this.#at++;
    const token = this.#peek();
    const name = token?.kind === "word" ? token.word.text : "";
    this.#at++;
    this.#eat("in");
    const words: Word[] = [];
    for (let next = this.#peek(); next?.kind === "word" && !this.#isWord("do"); next = this.#peek()) {
      words.push(next.word);
      this.#at++;
    }
    this.#skip(";", "\n");
    return { kind: "for", name, words, body: this.#body() };
  }

  #body(): Command {
    this.#eat("do");
    const body = this.list();
    this.#eat("done");
    return body;
  }

  #simple(): Command {
    const words: Word[] = [];
    const redirects: { op: string; target: string }[] = [];
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      if (token.kind === "word") {
        words.push(token.word);
        this.#at++;
        continue;
      }
      if (!/[<>]/.test(token.op)) break;
      this.#at++;
      const next = this.#peek();
      const bare = token.op.endsWith("&1") || token.op.endsWith("&2");
      const target = !bare && next?.kind === "word" ? next.word.text : "";
      if (target !== "") this.#at++;
      redirects.push({ op: token.op, target });
    }
    return { kind: "simple", words, redirects };
  }
}
