import { type Command, parseScript, type Word } from "./shell-parse.ts";

/** What a script did, as far as the world could see it. */
export interface ScriptResult {
  /** Milliseconds until it ended; undefined when it runs for ever. */
  readonly tookMs: number | undefined;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super("exit");
    this.code = code;
  }
}

class Forever extends Error {}

/** Beyond this the script counts as one that never ends. */
const foreverMs = 10 * 365 * 24 * 3_600_000;
const maxSteps = 20_000;
const maxOutput = 1_000_000;

/**
 * Acts out a script without running anything: time passes by `sleep`, text appears by `echo`, files do not exist, and a program
 * that is not known does nothing and succeeds, except that one which takes the shell's place (`exec`, or the last command where
 * `unknownRuns`) runs for ever.
 */
export function runScript(script: string, env: Readonly<Record<string, string>>, unknownRuns: boolean): ScriptResult {
  const shell = new Shell({ ...env }, unknownRuns);
  let code = 0;
  try {
    code = shell.run(parseScript(script), true);
  } catch (error) {
    if (error instanceof Forever) return { tookMs: undefined, code: 0, stdout: shell.stdout, stderr: shell.stderr };
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  }
  return { tookMs: shell.elapsed > foreverMs ? undefined : shell.elapsed, code, stdout: shell.stdout, stderr: shell.stderr };
}

class Shell {
  elapsed = 0;
  stdout = "";
  stderr = "";
  #steps = 0;
  #last = 0;
  #stopOnError = false;
  readonly #env: Record<string, string>;
  readonly #unknownRuns: boolean;

  constructor(env: Record<string, string>, unknownRuns: boolean) {
    this.#env = env;
    this.#unknownRuns = unknownRuns;
  }

  run(command: Command, last: boolean): number {
    if (++this.#steps > maxSteps || this.elapsed > foreverMs) throw new Forever();
    this.#last = this.#dispatch(command, last);
    return this.#last;
  }

  #dispatch(command: Command, last: boolean): number {
    switch (command.kind) {
      case "simple":
        return this.#simple(command, last);
      case "list":
        return this.#list(command.items, last);
      case "and":
        return this.run(command.left, false) === 0 ? this.run(command.right, last) : this.#last;
      case "or":
        return this.run(command.left, false) === 0 ? 0 : this.run(command.right, last);
      case "not":
        return this.run(command.body, false) === 0 ? 1 : 0;
      case "pipe":
        return this.#pipe(command.parts, last);
      case "background":
        return 0;
      case "subshell":
        return this.#subshell(command.body, last);
      case "if":
        for (const branch of command.branches) if (this.run(branch.test, false) === 0) return this.run(branch.body, last);
        return command.otherwise === undefined ? 0 : this.run(command.otherwise, last);
      case "loop":
        return this.#loop(command.test, command.until, command.body);
      case "for":
        for (const word of command.words.flatMap((one) => this.#expand(one))) {
          this.#env[command.name] = word;
          this.run(command.body, false);
        }
        return 0;
    }
  }

  #list(items: readonly Command[], last: boolean): number {
    let code = 0;
    items.forEach((item, index) => {
      code = this.run(item, last && index === items.length - 1);
      if (code !== 0 && this.#stopOnError && item.kind === "simple") throw new Exit(code);
    });
    return code;
  }

  /** Only the last part of a pipe is heard. */
  #pipe(parts: readonly Command[], last: boolean): number {
    const before = this.stdout;
    let code = 0;
    parts.forEach((part, index) => {
      const piped = this.stdout.slice(before.length);
      const passes = part.kind === "simple" && ["cat", "tee", "sort", "uniq", "head", "tail"].includes(part.words[0]?.text ?? "");
      if (index > 0) this.stdout = before;
      code = this.run(part, last && index === parts.length - 1);
      if (passes && index > 0) this.stdout = before + piped;
    });
    return code;
  }

  /** What happens to variables inside stays inside, and `exit` ends only it. */
  #subshell(body: Command, last: boolean): number {
    const before = { ...this.#env };
    try {
      return this.run(body, last);
    } catch (error) {
      if (!(error instanceof Exit)) throw error;
      return error.code;
    } finally {
      for (const name of Object.keys(this.#env)) delete this.#env[name];
      Object.assign(this.#env, before);
    }
  }

  #loop(test: Command, until: boolean, body: Command): number {
    for (let i = 0; (this.run(test, false) === 0) !== until; i++) {
      const elapsed = this.elapsed;
      this.run(body, false);
      // A loop that waits does not end by itself unless something in it counts, which a few thousand rounds would show.
      if (i > 2000 || (i > 50 && this.elapsed === elapsed)) throw new Forever();
    }
    return 0;
  }

  #simple(command: Command & { kind: "simple" }, last: boolean): number {
    const words = command.words.flatMap((word) => this.#expand(word));
    while (words[0] !== undefined && /^[A-Za-z_]\w*=/.test(words[0])) {
      const [name = "", ...value] = words.shift()?.split("=") ?? [];
      this.#env[name] = value.join("=");
    }
    const name = words[0];
    if (name === undefined) return 0;
    const say = (text: string) => {
      const hidden = command.redirects.some((one) => one.target !== "" && one.op !== "<" && !one.op.startsWith("2"));
      if (hidden || this.stdout.length + this.stderr.length > maxOutput) return;
      if (command.redirects.some((one) => one.op === ">&2" || (one.op === "1>" && one.target === "&2"))) this.stderr += text;
      else this.stdout += text;
    };
    return this.#call(name, words.slice(1), say, last);
  }

  #call(path: string, args: readonly string[], say: (text: string) => void, last: boolean): number {
    const name = path.split("/").at(-1) ?? path;
    switch (name) {
      case "exit":
        throw new Exit(Number(args[0] ?? this.#last) & 255);
      case "true":
      case ":":
        return 0;
      case "false":
        return 1;
      case "sleep":
        this.elapsed += args.reduce((sum, arg) => sum + sleepMs(arg), 0);
        if (this.elapsed > foreverMs) throw new Forever();
        return 0;
      case "echo":
        say(`${args.filter((arg, i) => !(i === 0 && /^-[neE]+$/.test(arg))).join(" ")}${args[0] === "-n" ? "" : "\n"}`);
        return 0;
      case "printf":
        say(printf(args));
        return 0;
      case "set":
        if (args.some((arg) => /^-\w*e/.test(arg))) this.#stopOnError = true;
        return 0;
      case "export":
        for (const arg of args) {
          const [key = "", ...value] = arg.split("=");
          if (arg.includes("=")) this.#env[key] = value.join("=");
        }
        return 0;
      case "test":
        return this.#test(args) ? 0 : 1;
      case "[":
      case "[[":
        return this.#test(args.slice(0, -1)) ? 0 : 1;
      case "exec":
        return this.#exec(args, say);
      case "env":
        say(
          Object.entries(this.#env)
            .map(([key, value]) => `${key}=${value}\n`)
            .join(""),
        );
        return 0;
      case "sh":
      case "bash":
      case "ash":
        return this.#nested(args, last);
      case "kill":
        throw new Exit(143);
      default:
        return this.#unknown(name, args, last);
    }
  }

  #exec(args: readonly string[], say: (text: string) => void): number {
    const [name, ...rest] = args;
    if (name === undefined) return 0;
    throw new Exit(this.#call(name, rest, say, true));
  }

  #nested(args: readonly string[], last: boolean): number {
    const at = args.findIndex((arg) => /^-\w*c$/.test(arg));
    if (at < 0) return 0;
    try {
      return this.run(parseScript(args[at + 1] ?? ""), last);
    } catch (error) {
      if (error instanceof Exit) return error.code;
      throw error;
    }
  }

  #unknown(name: string, args: readonly string[], last: boolean): number {
    if ((name === "tail" && args.includes("-f")) || (name === "cat" && args.length === 0 && last)) throw new Forever();
    if (last && this.#unknownRuns && !quick.has(name)) throw new Forever();
    return ["grep", "diff", "which", "wait"].includes(name) && name !== "wait" ? 1 : 0;
  }

  #test(args: readonly string[]): boolean {
    if (args[0] === "!") return !this.#test(args.slice(1));
    const or = args.indexOf("-o");
    if (or > 0) return this.#test(args.slice(0, or)) || this.#test(args.slice(or + 1));
    const and = args.indexOf("-a");
    if (and > 0) return this.#test(args.slice(0, and)) && this.#test(args.slice(and + 1));
    if (args.length === 1) return args[0] !== "";
    if (args.length === 2) return args[0] === "-n" ? args[1] !== "" : args[0] === "-z" ? args[1] === "" : false;
    const [left = "", operator, right = ""] = args;
    const [a, b] = [Number(left), Number(right)];
    const table: Record<string, boolean> = {
      "=": left === right,
      "==": left === right,
      "!=": left !== right,
      "-eq": a === b,
      "-ne": a !== b,
      "-lt": a < b,
      "-le": a <= b,
      "-gt": a > b,
      "-ge": a >= b,
    };
    return table[operator ?? ""] ?? false;
  }

  #expand(word: Word): string[] {
    const text = word.text
      .replace(/\$\(\((.*?)\)\)/g, (_, expression: string) => String(arithmetic(expression, this.#env)))
      .replace(/\$\([^)]*\)|`[^`]*`/g, "")
      .replace(/\$\{(\w+)(?::?[-=]([^}]*))?\}|\$(\w+|\?|#|@|\*)/g, (_, braced?: string, fallback?: string, plain?: string) => {
        const name = braced ?? plain ?? "";
        if (name === "?") return String(this.#last);
        return this.#env[name] ?? fallback ?? "";
      })
      .replaceAll("\u0000", "$");
    if (word.quoted || !word.text.includes("$")) return [text];
    return text.split(/\s+/).filter((part) => part !== "");
  }
}

const quick = new Set([
  "mkdir",
  "cp",
  "mv",
  "rm",
  "touch",
  "chmod",
  "chown",
  "ls",
  "cat",
  "date",
  "hostname",
  "id",
  "pwd",
  "cd",
  "wait",
  "trap",
  "read",
  "sed",
  "awk",
  "grep",
  "tr",
  "cut",
  "wc",
  "head",
  "sort",
  "uniq",
  "tee",
  "seq",
  "uname",
  "ln",
  "find",
  "shift",
  "unset",
  "return",
  "break",
  "continue",
  "curl",
  "wget",
  "tar",
  "gzip",
  "which",
  "diff",
  "basename",
  "dirname",
]);

function sleepMs(text: string): number {
  if (text === "infinity" || text === "inf") return Number.POSITIVE_INFINITY;
  const found = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text);
  const unit = { "": 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[found?.[2] ?? ""] ?? 1000;
  return found === null ? 0 : Number(found[1]) * unit;
}

function printf(args: readonly string[]): string {
  const rest = args.slice(1);
  return (args[0] ?? "")
    .replace(/%%|%-?\d*[sdi]/g, (spec) => (spec === "%%" ? "%" : (rest.shift() ?? "")))
    .replaceAll("\\n", "\n")
    .replaceAll("\\t", "\t");
}

/** Sums, differences and products of numbers and variables; anything else is 0. */
function arithmetic(expression: string, env: Readonly<Record<string, string>>): number {
  const parts = expression.replace(/\$?([A-Za-z_]\w*)/g, (_, name: string) => env[name] ?? "0").match(/\d+|[-+*]/g) ?? [];
  let total = Number(parts[0] ?? 0);
  for (let i = 1; i + 1 < parts.length; i += 2) {
    const value = Number(parts[i + 1]);
    total = parts[i] === "+" ? total + value : parts[i] === "-" ? total - value : total * value;
  }
  return Number.isFinite(total) ? total : 0;
}
