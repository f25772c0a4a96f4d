/** How people prove who they are, apart from API tokens. */
export const loginMethods = ["local", "nomad", "oidc"] as const;

export type LoginMethod = (typeof loginMethods)[number];

/**
 * What decides that two logins are the same person (S58): the method and what it calls the person for good, never the name that is
 * shown. A renamed or re-used account inherits nothing.
 */
export function identityOf(person: { readonly method: LoginMethod; readonly subject: string }): string {
  return `${person.method}:${person.subject}`;
}
