/** `nops user hash`: a line for the users file. */
import { NopsError } from "../../model/errors.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { hashPassword, newSalt } from "../login/passwords.ts";
import { parseUsers } from "../login/users-file.ts";

const shortest = 8;
const longest = 1_000;

/** Prints `NAME:HASH`. The password comes from the terminal, typed twice, or from stdin; never from the command line, which others can see. */
export async function userHash(name: string, flags: { readonly email?: string }, io: CommandIo): Promise<void> {
  const password = await askPassword(name, io);
  if (password.length < shortest || password.length > longest)
    throw new CommandError(exitCodes.usage, `a password has ${shortest} to ${longest} characters`);
  const hash = await hashPassword(password, newSalt(io.random));
  const line = [name, hash, ...(flags.email === undefined ? [] : [flags.email])].join(":");
  const [problem] = parseUsers(line).problems;
  if (problem !== undefined) throw new CommandError(exitCodes.usage, problem.replace(/^line 1: /, "the line "));
  io.out(`${line}\n`);
  io.err("append the line to the file that auth.local.users_file names; nops reads it again by itself\n");
}

async function askPassword(name: string, io: CommandIo): Promise<string> {
  const first = await io.readSecret(`Password of ${name}`);
  if (!io.interactive) return first.replace(/\r?\n$/, "");
  if (first !== (await io.readSecret("Again")))
    throw new NopsError("the two passwords differ", { code: "passwords_differ", hint: "try again" });
  return first;
}
