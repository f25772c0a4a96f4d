/** The file of people who log in with a password: `NAME:HASH` or `NAME:HASH:EMAIL` a line. */
import { readFileSync, statSync } from "node:fs";
import { messageOf, NopsError } from "../../model/errors.ts";
import type { Log } from "../../model/log.ts";
import { isPasswordHash } from "./passwords.ts";

export interface User {
  readonly name: string;
  readonly hash: string;
  /** Vouched for by whoever wrote the file; only to refuse self-approval. */
  readonly email: string | undefined;
}

export interface ParsedUsers {
  readonly users: ReadonlyMap<string, User>;
  /** `line 3: …`, never with a hash in it. */
  readonly problems: readonly string[];
}

export interface UsersFile {
  /** @throws NopsError `users_unreadable`. */
  find(name: string): User | undefined;
}

const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,99}$/u;

/** Every good line of the text, and what is wrong with the others. Blank lines and those that begin with # are passed over. */
export function parseUsers(text: string): ParsedUsers {
  const users = new Map<string, User>();
  const problems: string[] = [];
  text.split("\n").forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return;
    const [name = "", hash = "", email, ...more] = line.split(":");
    const problem = problemOf(name, hash, email, more.length > 0, users);
    if (problem === undefined) users.set(name, { name, hash, email: email === "" ? undefined : email });
    else problems.push(`line ${index + 1}: ${problem}`);
  });
  return { users, problems };
}

function problemOf(
  name: string,
  hash: string,
  email: string | undefined,
  more: boolean,
  users: ReadonlyMap<string, User>,
): string | undefined {
  if (!namePattern.test(name)) return "must begin with a name of 1 to 100 letters, digits or any of . _ @ -";
  if (!isPasswordHash(hash)) return `what follows "${name}:" is no hash that nops user hash makes`;
  if (more || (email !== undefined && email !== "" && !/^[^\s@]+@[^\s@]+$/.test(email)))
    return `what follows the hash of "${name}" is no e-mail address`;
  return users.has(name) ? `"${name}" is there twice` : undefined;
}

/**
 * Opens the file and reads it again whenever it changed. A line that turns bad later is left out and logged, so that the other lines, and
 * removals, count at once.
 * @throws NopsError `users_unreadable`, `bad_users_file` with every bad line: nothing starts with one.
 */
export function openUsersFile(path: string, log: Log): UsersFile {
  let stamp = stampOf(path);
  let known = parseUsers(contentOf(path));
  if (known.problems.length > 0) {
    throw new NopsError(known.problems.map((problem) => `${path}: ${problem}`).join("\n"), {
      code: "bad_users_file",
      hint: "each line is NAME:HASH, as `nops user hash NAME` prints it, or NAME:HASH:EMAIL",
    });
  }
  if (known.users.size === 0) log.warn("the users file names nobody", { file: path });
  return {
    find: (name) => {
      const now = stampOf(path);
      if (now !== stamp) {
        known = parseUsers(contentOf(path));
        stamp = now;
        log.info("the users file was read again", { file: path, users: known.users.size });
        for (const problem of known.problems) log.error("a line of the users file is left out", { file: path, problem });
      }
      return known.users.get(name);
    },
  };
}

function stampOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs}:${size}:${ino}`;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): NopsError {
  const why = (error as NodeJS.ErrnoException).code ?? messageOf(error);
  return new NopsError(`the users file ${path}: ${why}`, {
    code: "users_unreadable",
    hint: "the file must exist and be readable for the user nops runs as",
    cause: error,
  });
}
