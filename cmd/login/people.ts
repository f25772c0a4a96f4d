/** Logins and sessions of people: what every method has in common. */
import { ApiError } from "../../api/errors.ts";
import type { Authenticator, LoggedIn, LoginOrigin, Logins, Principal } from "../../api/ports.ts";
import { grantOf } from "../../model/grant.ts";
import type { Log } from "../../model/log.ts";
import type { LoginMethod } from "../../model/login.ts";
import type { Store } from "../../store/open.ts";
import { sessionLongestMs } from "../../store/sessions.ts";
import type { LocalLogin } from "./local.ts";
import type { NomadLogin } from "./nomad.ts";
import type { OidcLogin } from "./oidc.ts";
import { actorOf, type Person, type StandingCheck } from "./person.ts";

export interface PeopleOptions {
  readonly methods: readonly (LoginMethod | "token")[];
  readonly store: Pick<Store, "openSession" | "findSession" | "endSession" | "admitLogin" | "loginSucceeded">;
  readonly log: Log;
  readonly local: LocalLogin | undefined;
  readonly nomad: NomadLogin | undefined;
  readonly oidc: OidcLogin | undefined;
}

export interface People {
  readonly logins: Logins;
  readonly session: Authenticator["session"];
}

export function createPeople(options: PeopleOptions): People {
  const { methods, store, local, nomad, oidc } = options;
  const checks = { local: local?.standing, nomad: nomad?.standing, oidc: oidc?.standing };
  return {
    logins: {
      methods,
      local: local === undefined ? undefined : (name, password, origin) => passwordLogin(local, name, password, origin, options),
      nomad: nomad === undefined ? undefined : (token, origin) => nomadTokenLogin(nomad, token, origin, options),
      oidc:
        oidc === undefined
          ? undefined
          : {
              begin: (next, formerSecret) => oidc.begin(next, formerSecret),
              finish: async (search, pending, origin) => {
                const { person, next, formerSecret } = await oidc.finish(search, pending);
                return { ...(await enter(person, { ...origin, formerSecret }, options)), next };
              },
            },
      logout: async (secret) => {
        const session = await store.findSession(secret, false);
        if (session !== undefined) await store.endSession(session.id, actorOf(session, session.id), "logged out");
      },
    },
    session: (secret, purpose) => principalOfSession(secret, purpose, checks, store),
  };
}

async function principalOfSession(
  secret: string,
  purpose: Parameters<StandingCheck>[2],
  checks: Readonly<Partial<Record<LoginMethod, StandingCheck | undefined>>>,
  store: PeopleOptions["store"],
): Promise<Principal | undefined> {
  const session = await store.findSession(secret, purpose !== "watch");
  if (session === undefined) return undefined;
  const check = checks[session.method];
  const standing =
    check === undefined
      ? { ended: true as const, why: `people do not log in by ${session.method} any more` }
      : await check(session, secret, purpose);
  if (standing.ended) {
    await store.endSession(session.id, actorOf(session, session.id), standing.why);
    return undefined;
  }
  return {
    actor: actorOf({ ...session, email: standing.email }, standing.accessorId ?? session.id),
    method: session.method,
    grants: standing.rights.map(grantOf),
    endsAt: session.endsAt,
  };
}

async function passwordLogin(
  local: LocalLogin,
  name: string,
  password: string,
  origin: LoginOrigin,
  options: PeopleOptions,
): Promise<LoggedIn> {
  const account = local.knows(name) ? name : "unknown";
  const attempt = { method: "local", account: name, shown: account, source: origin.source } as const;
  const person = await counted(attempt, () => local.check(name, password), options);
  return enter(person, origin, options);
}

async function nomadTokenLogin(nomad: NomadLogin, token: string, origin: LoginOrigin, options: PeopleOptions): Promise<LoggedIn> {
  // Every token is an account of its own; who tries many comes from somewhere.
  const attempt = { method: "nomad", account: token, shown: "a token", source: origin.source } as const;
  return enter(await counted(attempt, () => nomad.check(token), options), origin, options);
}

interface Attempt {
  readonly method: LoginMethod;
  readonly source: string;
  /** What is counted beside the source. */
  readonly account: string;
  /** The same for the log. */
  readonly shown: string;
}

/**
 * Looks at credentials only while source and account have not been wrong too often (S25). One text for whatever was wrong.
 * @throws ApiError 401 `wrong_credentials`, 429 `too_many_logins`.
 */
async function counted(
  attempt: Attempt,
  check: () => Promise<Person | undefined>,
  { store, log }: PeopleOptions,
): Promise<Person> {
  const { method, source, account, shown } = attempt;
  const admission = await store.admitLogin({ method, source, account });
  if (!admission.admitted) {
    log.warn("a login was not looked at: too many wrong ones before", { method, source, account: shown });
    const minutes = Math.ceil(admission.retryAfterMs / 60_000);
    throw new ApiError(429, "too_many_logins", `too many wrong logins; try again in ${minutes} min`, {
      retryAfterMs: admission.retryAfterMs,
    });
  }
  let person: Person | undefined;
  try {
    person = await check();
  } catch (error) {
    // Nobody knows whether it was wrong.
    await store.loginSucceeded(admission.id);
    throw error;
  }
  if (person === undefined) {
    log.warn("a login was wrong", { method, source, account: shown });
    throw new ApiError(401, "wrong_credentials", wrongWords[method]);
  }
  await store.loginSucceeded(admission.id);
  return person;
}

const wrongWords: Readonly<Record<LoginMethod, string>> = {
  local: "name or password is wrong",
  nomad: "Nomad does not know the token",
  oidc: "the login failed",
};

/** @throws ApiError 403 `not_allowed` for somebody who has no rights at all. */
async function enter(person: Person, origin: LoginOrigin, { store, log }: PeopleOptions): Promise<LoggedIn> {
  const { method, subject, name, email, rights, claims } = person;
  if (rights.length === 0) {
    log.warn("a login was right, but gives no rights", { method, source: origin.source, subject });
    throw new ApiError(403, "not_allowed", `${name} has no rights here`, {
      hint:
        method === "nomad"
          ? "the policies of the Nomad token give none, and auth.rules neither"
          : "auth.rules of the configuration gives them",
    });
  }
  const longestMs = Math.min(person.longestMs, sessionLongestMs);
  const { session, secret } = await store.openSession({
    ...{ method, subject, name, email, claims, longestMs },
    replaces: origin.formerSecret,
    actor: (id) => actorOf(person, person.accessorId ?? id),
  });
  const actor = actorOf(person, person.accessorId ?? session.id);
  return { secret, longestMs, principal: { actor, method, grants: rights.map(grantOf), endsAt: session.endsAt } };
}
