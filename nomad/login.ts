import type { Clock } from "../model/clock.ts";
import { NomadError } from "../model/errors.ts";
import type { TokenSource } from "./token.ts";

/** What `/v1/acl/login` gives for a JWT. */
export interface LoggedIn {
  readonly secret: string;
  /** Milliseconds since the epoch; `undefined`: the token does not expire. */
  readonly expiresAt: number | undefined;
}

// Renewing after this part of its life leaves time to try again while the old token still works.
const RENEW_AFTER = 0.7;

/**
 * Exchanges a workload-identity JWT for an ACL token and renews it before it expires, when it is rejected, and when the
 * JWT itself changed. One exchange at a time. A failed renewal keeps the old token as long as that one lives.
 */
export function loginToken(jwt: TokenSource, login: (jwt: string) => Promise<LoggedIn>, clock: Clock): TokenSource {
  let held: { readonly token: LoggedIn; readonly jwt: string; readonly renewAt: number } | undefined;
  let running: Promise<string> | undefined;

  async function exchangeNow(current: string): Promise<string> {
    const startedAt = clock.now();
    try {
      const token = await login(current);
      const life = token.expiresAt === undefined ? Number.POSITIVE_INFINITY : token.expiresAt - startedAt;
      held = { token, jwt: current, renewAt: startedAt + life * RENEW_AFTER };
      return token.secret;
    } catch (error) {
      const alive = held !== undefined && clock.now() < (held.token.expiresAt ?? Number.POSITIVE_INFINITY);
      if (held !== undefined && alive) return held.token.secret;
      throw error;
    }
  }

  return {
    async current() {
      const now = await jwt.current();
      if (now === undefined) {
        throw new NomadError("cannot log in to Nomad: there is no token to exchange", {
          kind: "not_sent",
          hint: "login_auth_method needs token_file with a workload-identity JWT",
        });
      }
      if (held !== undefined && held.jwt === now && clock.now() < held.renewAt) return held.token.secret;
      running ??= exchangeNow(now).finally(() => {
        running = undefined;
      });
      return running;
    },
    rejected(token) {
      if (held?.token.secret === token) held = undefined;
      return true;
    },
  };
}
