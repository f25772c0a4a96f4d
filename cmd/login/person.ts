/** What a login method says about people, now and later. */
import type { SessionPurpose } from "../../api/ports.ts";
import type { Actor } from "../../model/deployment.ts";
import type { Rights } from "../../model/grant.ts";
import { identityOf, type LoginMethod } from "../../model/login.ts";
import type { Session } from "../../store/sessions.ts";

/** Somebody who just proved who they are. */
export interface Person {
  readonly method: LoginMethod;
  /** What the method calls them for good. */
  readonly subject: string;
  /** For display. */
  readonly name: string;
  readonly email: string | undefined;
  /** Public id of what they logged in with, when it has one. */
  readonly accessorId?: string;
  readonly rights: readonly Rights[];
  /** What has to be known to ask again later; the session's secret may seal a part of it. */
  readonly claims: (secret: string) => unknown;
  /** Milliseconds after which the proof itself ends. */
  readonly longestMs: number;
}

/** How the person of a session stands at this moment (S24). */
export type Standing =
  | {
      readonly ended: false;
      readonly rights: readonly Rights[];
      /** As the method vouches for it now. */
      readonly email: string | undefined;
      readonly accessorId?: string;
    }
  | { readonly ended: true; readonly why: string };

/** @throws ApiError or NomadError when it cannot be said now. */
export type StandingCheck = (session: Session, secret: string, purpose: SessionPurpose) => Promise<Standing>;

type Named = Pick<Person, "method" | "subject" | "name" | "email">;

/** As the audit log names a person; the id of the session where nothing else has one. */
export function actorOf(person: Named, accessorId: string): Actor {
  const { name, email } = person;
  return { name, kind: "person", accessorId, identity: identityOf(person), ...(email === undefined ? {} : { email }) };
}
