import { createFileGlob } from "./file-glob.ts";
import { type FileProblem, problemAt } from "./problem.ts";
import { quoteString } from "./render.ts";
import type { Body, CallExpression } from "./syntax.ts";
import { expressionsOfBody, literalString } from "./walk.ts";

/** The files of a commit, as far as a job file may see them. */
export interface CommitFiles {
  /** Content of a regular file by its path in the repository; `undefined` when there is none. */
  readonly read: (path: string) => string | Uint8Array | undefined;
  /** Paths of all regular files of the repository. */
  readonly list: () => Iterable<string>;
}

export interface InlineLimits {
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes of all files of one job together, as they stand in the commit. */
  readonly totalBytes: number;
}

export const DEFAULT_INLINE_LIMITS: InlineLimits = { fileBytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 };

/** A job file whose calls of file functions are replaced. */
export interface InlinedFiles {
  /** Line for line as the original. */
  readonly text: string;
  readonly problems: readonly FileProblem[];
  /** Paths in the repository that were read or asked for: a change of one of them may change the job. */
  readonly files: readonly string[];
}

const FUNCTIONS = new Set(["file", "filebase64", "fileexists", "fileset"]);

/**
 * Puts the content of the commit in place of `file("…")`, `filebase64("…")`, `fileexists("…")` and `fileset("…", "…")`,
 * which Nomad's parse refuses (design D26). Paths are relative to the folder of the job file and stay in the repository.
 * @param text the HCL text that `body` was read from
 * @param path of the job file in the repository
 */
export function inlineFiles(
  text: string,
  body: Body,
  path: string,
  commit: CommitFiles,
  limits: InlineLimits = DEFAULT_INLINE_LIMITS,
): InlinedFiles {
  const inliner = new Inliner(path, commit, limits);
  const calls: CallExpression[] = [];
  for (const expression of expressionsOfBody(body)) {
    if (expression.kind === "call" && FUNCTIONS.has(expression.name)) calls.push(expression);
  }
  calls.sort((a, b) => a.range.start.offset - b.range.start.offset);
  // Offsets count from behind a byte order mark.
  const marked = text.startsWith("\ufeff") ? 1 : 0;
  let result = "";
  let at = 0;
  for (const call of calls) {
    const start = call.range.start.offset + marked;
    if (start < at) continue;
    result += text.slice(at, start);
    at = call.range.end.offset + marked;
    result += inliner.replace(call) ?? text.slice(start, at);
  }
  return { text: result + text.slice(at), problems: inliner.problems, files: [...inliner.files].sort() };
}

class Inliner {
  readonly problems: FileProblem[] = [];
  readonly files = new Set<string>();
  readonly #folder: readonly string[];
  readonly #commit: CommitFiles;
  readonly #limits: InlineLimits;
  #total = 0;

  constructor(path: string, commit: CommitFiles, limits: InlineLimits) {
    this.#folder = path.split("/").slice(0, -1);
    this.#commit = commit;
    this.#limits = limits;
  }

  /** The source to put in place of a call; `undefined` leaves it, with a problem reported. */
  replace(call: CallExpression): string | undefined {
    const wanted = call.name === "fileset" ? 2 : 1;
    const args = call.args.map(literalString);
    const [first, second] = args;
    if (args.length !== wanted || call.expandLast) {
      return this.#problem(call, `takes ${wanted === 1 ? "one argument" : "two arguments"}`);
    }
    if (first === undefined || (wanted === 2 && second === undefined)) {
      return this.#problem(call, "needs a literal path: files are read from the commit before variables have values");
    }
    const path = this.#resolve(call, first);
    if (path === undefined) return undefined;
    if (call.name === "fileset") return this.#list(path, second ?? "");
    this.files.add(path);
    const content = this.#commit.read(path);
    if (call.name === "fileexists") return String(content !== undefined);
    if (content === undefined) return this.#problem(call, `there is no file ${path} in the commit`);
    return this.#content(call, path, content);
  }

  #problem(call: CallExpression, message: string): undefined {
    this.problems.push(problemAt(call.range, `${call.name}(): ${message}`));
    return undefined;
  }

  #resolve(call: CallExpression, given: string): string | undefined {
    if (given.startsWith("/") || given.startsWith("~") || /^[A-Za-z]:/.test(given)) {
      return this.#problem(call, `${JSON.stringify(given)} is no path relative to the job file`);
    }
    const resolved = [...this.#folder];
    for (const part of given.replaceAll("\\", "/").split("/")) {
      if (part === "" || part === ".") continue;
      if (part !== "..") resolved.push(part);
      else if (resolved.pop() === undefined) {
        return this.#problem(call, `${JSON.stringify(given)} leads out of the repository`);
      }
    }
    return resolved.join("/");
  }

  #content(call: CallExpression, path: string, content: string | Uint8Array): string | undefined {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    if (bytes.length > this.#limits.fileBytes) {
      return this.#problem(
        call,
        `${path} has ${bytes.length} bytes, more than the ${this.#limits.fileBytes} a job file may take in`,
      );
    }
    this.#total += bytes.length;
    if (this.#total > this.#limits.totalBytes) {
      return this.#problem(call, `the files of this job have more than ${this.#limits.totalBytes} bytes together`);
    }
    if (call.name === "filebase64") return `"${Buffer.from(bytes).toString("base64")}"`;
    try {
      return quoteString(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch {
      return this.#problem(call, `${path} is no UTF-8 text; use filebase64() for binary files`);
    }
  }

  /** Nomad's `fileset` gives a set: walked in order, without positions. */
  #list(folder: string, pattern: string): string {
    const prefix = folder === "" ? "" : `${folder}/`;
    const found = [...this.#commit.list()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .filter(createFileGlob(pattern))
      .sort();
    for (const path of found) this.files.add(prefix + path);
    return `convert([${found.map(quoteString).join(", ")}], set(string))`;
  }
}
