/** Name and password, from the users file. */
import { ApiError } from "../../api/errors.ts";
import { NopsError } from "../../model/errors.ts";
import { sha256 } from "../../model/hash.ts";
import { passwordMatches } from "./passwords.ts";
import type { Person, StandingCheck } from "./person.ts";
import { type Rule, rightsOf } from "./rules.ts";
import type { User, UsersFile } from "./users-file.ts";

export interface LocalLogin {
  /** Whether the name stands in the file: an unknown one is not repeated in the log, since it may be a password. */
  knows(name: string): boolean;
  /** The person; `undefined` when name or password is wrong, after the same time. */
  check(name: string, password: string): Promise<Person | undefined>;
  readonly standing: StandingCheck;
}

export function localLogin(file: UsersFile, rules: readonly Rule[]): LocalLogin {
  const find = (name: string): User | undefined => {
    try {
      return file.find(name);
    } catch (error) {
      if (!(error instanceof NopsError)) throw error;
      throw new ApiError(503, "login_unavailable", "the users file cannot be read", { cause: error });
    }
  };
  const rights = (name: string) => rightsOf(rules, { method: "local", names: [name] });
  return {
    knows: (name) => find(name) !== undefined,
    check: async (name, password) => {
      const user = find(name);
      if (!(await passwordMatches(password, user?.hash)) || user === undefined) return undefined;
      const claims = { credential: sha256(user.hash) };
      const { email } = user;
      return {
        method: "local",
        subject: name,
        name,
        email,
        rights: rights(name),
        claims: () => claims,
        longestMs: Number.POSITIVE_INFINITY,
      };
    },
    standing: async (session) => {
      const user = find(session.subject);
      if (user === undefined) return { ended: true, why: "the users file names the person no more" };
      const { credential } = session.claims as { readonly credential?: string };
      if (credential !== sha256(user.hash)) return { ended: true, why: "the password was changed" };
      return { ended: false, rights: rights(session.subject), email: user.email };
    },
  };
}
