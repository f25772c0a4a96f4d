/** A Nomad token: who has one is whom Nomad says, and may in nops what the token may in Nomad. */
import { ApiError } from "../../api/errors.ts";
import type { Clock, Random } from "../../model/clock.ts";
import { NomadError, type NomadErrorKind } from "../../model/errors.ts";
import type { Rights } from "../../model/grant.ts";
import type { Log } from "../../model/log.ts";
import type { Store } from "../../store/open.ts";
import type { Session } from "../../store/sessions.ts";
import type { AskNomad, NomadPerson } from "./nomad-person.ts";
import { managementRights, rightsOfRules } from "./nomad-rights.ts";
import type { Person, Standing, StandingCheck } from "./person.ts";
import { type Rule, rightsOf } from "./rules.ts";
import { seal, unseal } from "./seal.ts";

/** So that a stream, which looks every 15 seconds, ends within a minute after the token did (S24). */
const checkEveryMs = 40_000;
/** After Nomad did not answer, reads do not wait for it again for so long. */
const patienceMs = 20_000;

export interface NomadLogin {
  /** The person; `undefined` when Nomad knows no such token. */
  check(token: string): Promise<Person | undefined>;
  readonly standing: StandingCheck;
}

export interface NomadLoginOptions {
  readonly ask: AskNomad;
  readonly rules: readonly Rule[];
  /** Namespaces that nops manages. */
  readonly namespaces: readonly string[];
  readonly store: Pick<Store, "recheckSession">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What is kept of a token: never the token, but sealed with the secret that the browser has. */
interface NomadClaims {
  readonly sealed: string;
  readonly policies: readonly string[];
  readonly derived: readonly Rights[];
}

export function nomadLogin(options: NomadLoginOptions): NomadLogin {
  const { ask, clock, random, rules } = options;
  const derive = (person: NomadPerson): readonly Rights[] =>
    person.management ? managementRights : rightsOfRules(person.rules, options.namespaces);
  const rights = (accessor: string, policies: readonly string[], derived: readonly Rights[]): readonly Rights[] => [
    ...derived,
    ...rightsOf(rules, { method: "nomad", names: [accessor], nomadPolicies: policies }),
  ];
  const standingOf = (accessor: string, policies: readonly string[], derived: readonly Rights[]): Standing => ({
    ...{ ended: false, email: undefined, accessorId: accessor },
    rights: rights(accessor, policies, derived),
  });
  const askAgain = async (session: Session, secret: string): Promise<Standing> => {
    const { sealed } = session.claims as NomadClaims;
    const token = unseal(sealed, secret, session.subject);
    const person = token === undefined ? "unknown" : await ask(token);
    if (person === "unknown" || person === "acls_off" || person.accessor !== session.subject)
      return { ended: true, why: "Nomad does not know the token any more" };
    const derived = derive(person);
    const claims: NomadClaims = { sealed, policies: person.policies, derived };
    await options.store.recheckSession(session.id, claims);
    return standingOf(session.subject, person.policies, derived);
  };
  const deaf = new DeafNomad(clock, options.log);
  return {
    check: async (token) => {
      const person = await ask(token);
      if (person === "unknown") return undefined;
      if (person === "acls_off")
        throw new ApiError(503, "login_unavailable", "Nomad's ACLs are off: its tokens tell nothing about people");
      const { accessor, name, policies, expiresAt } = person;
      const derived = derive(person);
      return {
        ...({ method: "nomad", subject: accessor, name, email: undefined, accessorId: accessor } as const),
        rights: rights(accessor, policies, derived),
        claims: (secret): NomadClaims => ({ sealed: seal(token, secret, accessor, random), policies, derived }),
        longestMs: expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt - clock.now(),
      };
    },
    standing: async (session, secret, purpose) => {
      if (purpose === "write") return askAgain(session, secret);
      const { policies, derived } = session.claims as NomadClaims;
      const known = standingOf(session.subject, policies, derived);
      const fresh = clock.now() - Date.parse(session.checkedAt) < checkEveryMs;
      return fresh || deaf.isDeafTo(session.id) ? known : deaf.unlessDeaf(session.id, () => askAgain(session, secret), known);
    },
  };
}

/** No answer at all concerns everybody; any other failure only the person it was about, whose policy may be what Nomad cannot read. */
const noAnswer: ReadonlySet<NomadErrorKind> = new Set(["not_sent", "overloaded"]);
const everybody = "";

/**
 * Reading goes on with what Nomad said last while it does not answer: that is when people look most. Acting never does.
 * One question a session at a time, however many requests a page sends.
 */
class DeafNomad {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #asking = new Map<string, Promise<Standing>>();
  readonly #until = new Map<string, number>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  isDeafTo(session: string): boolean {
    return [everybody, session].some((whom) => this.#clock.now() < (this.#until.get(whom) ?? Number.NEGATIVE_INFINITY));
  }

  unlessDeaf(session: string, ask: () => Promise<Standing>, known: Standing): Promise<Standing> {
    const running = this.#asking.get(session);
    if (running !== undefined) return running;
    const asking = this.#ask(session, ask, known).finally(() => this.#asking.delete(session));
    this.#asking.set(session, asking);
    return asking;
  }

  async #ask(session: string, ask: () => Promise<Standing>, known: Standing): Promise<Standing> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NomadError)) throw error;
      this.#forgetPast();
      this.#until.set(noAnswer.has(error.kind) ? everybody : session, this.#clock.now() + patienceMs);
      this.#log.warn("Nomad cannot be asked about a person's token: reading goes on with the rights it had", {
        error: error.message,
      });
      return known;
    }
  }

  #forgetPast(): void {
    for (const [whom, until] of this.#until) if (until <= this.#clock.now()) this.#until.delete(whom);
  }
}
