import { and, desc, eq, isNull, lt, or } from "drizzle-orm";
import { isTokenCapability, type TokenCapability } from "../model/capabilities.ts";
import { type Instant, type Random, toInstant } from "../model/clock.ts";
import type { Actor } from "../model/deployment.ts";
import { equalSecretly } from "../model/equal-secretly.ts";
import { InvalidRequestError, NotFoundError, RefusedError } from "../model/errors.ts";
import { sha256 } from "../model/hash.ts";
import { isNamespacePattern } from "../model/namespace-pattern.ts";
import type { Connection } from "./connection.ts";
import type { EventLog } from "./events.ts";
import { apiTokens } from "./schema.ts";

/** An API token without its secret, which nobody knows but its owner (design D38). */
export interface ApiToken {
  /** Public; shown in the audit log. */
  readonly id: string;
  readonly name: string;
  readonly capabilities: readonly TokenCapability[];
  /** Globs over namespaces; `*` is all. */
  readonly namespaces: readonly string[];
  readonly createdBy: string;
  /** Identity of the person whose token it is: what it approves counts as theirs (S58). */
  readonly owner: string | undefined;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | undefined;
  /** To the minute. */
  readonly lastUsedAt: Instant | undefined;
  readonly revokedAt: Instant | undefined;
}

export interface NewToken {
  readonly name: string;
  /** Default: `read`. */
  readonly capabilities?: readonly string[] | undefined;
  /** Default: every namespace. */
  readonly namespaces?: readonly string[] | undefined;
  /** Milliseconds until it expires; absent: never. */
  readonly ttlMs?: number | undefined;
  /** `METHOD:SUBJECT` of a person who logs in. */
  readonly owner?: string | undefined;
  readonly actor: Actor;
}

const secretPrefix = "nops_";
const secretBytes = 32;
/** The time of last use is stored once a minute, so that reading the API costs no write. */
const usePrecisionMs = 60_000;

type TokenRow = typeof apiTokens.$inferSelect;

/** API tokens. Every change is one short transaction, so that a second process may make it while the operator runs (design D35). */
export class Tokens {
  readonly #connection: Connection;
  readonly #events: EventLog;
  readonly #random: Random;

  constructor(connection: Connection, events: EventLog, random: Random) {
    this.#connection = connection;
    this.#events = events;
    this.#random = random;
  }

  /**
   * The secret is in the answer and nowhere else; its SHA-256 is stored.
   * A name belongs to one valid token, since decisions are signed with it.
   * @throws InvalidRequestError `bad_token_name`, `unknown_capability`, `bad_ttl`, `bad_namespace`, `bad_owner`; RefusedError `token_name_taken`.
   */
  async createToken(input: NewToken): Promise<{ readonly token: ApiToken; readonly secret: string }> {
    const capabilities = checkedCapabilities(input.capabilities ?? ["read"]);
    const namespaces = checkedNamespaces(input.namespaces ?? ["*"]);
    const name = checkedName(input.name);
    const owner = checkedOwner(input.owner);
    const secret = secretPrefix + Buffer.from(this.#random.bytes(secretBytes)).toString("base64url");
    const c = this.#connection;
    return c.administer(() => {
      this.#refuseTaken(name);
      const row: TokenRow = {
        id: c.newId(),
        name,
        secretHash: sha256(secret),
        capabilities: JSON.stringify(capabilities),
        namespaces: JSON.stringify(namespaces),
        createdBy: input.actor.name,
        createdAt: c.now(),
        expiresAt: expiry(c.nowMs(), input.ttlMs),
        lastUsedAt: null,
        revokedBy: null,
        revokedAt: null,
        owner,
      };
      c.orm.insert(apiTokens).values(row).run();
      const rights = `${capabilities.join(", ")} in ${namespaces.join(", ")}`;
      this.#events.append({
        kind: "token_created",
        actor: input.actor,
        message: `token ${row.id} (${name})${owner === null ? "" : ` of ${owner}`} may ${rights}${row.expiresAt === null ? "" : ` until ${row.expiresAt}`}`,
      });
      return { token: toToken(row), secret };
    });
  }

  #refuseTaken(name: string): void {
    const c = this.#connection;
    const named = c.orm.select().from(apiTokens).where(eq(apiTokens.name, name)).all();
    const now = c.now();
    const valid = named.find((row) => row.revokedAt === null && (row.expiresAt === null || row.expiresAt > now));
    if (valid === undefined) return;
    throw new RefusedError(`token ${valid.id} is called "${name}" already`, {
      code: "token_name_taken",
      hint: `choose another name, or: nops token revoke ${valid.id}`,
    });
  }

  /** @throws NotFoundError `token_not_found`; RefusedError `already_revoked`. */
  async revokeToken(id: string, actor: Actor): Promise<ApiToken> {
    const c = this.#connection;
    return c.administer(() => {
      const row = c.orm.select().from(apiTokens).where(eq(apiTokens.id, id)).get();
      if (row === undefined) throw new NotFoundError(`there is no token ${id}`, { code: "token_not_found" });
      if (row.revokedAt !== null) throw new RefusedError(`token ${id} was already revoked`, { code: "already_revoked" });
      const revoked = { revokedBy: actor.name, revokedAt: c.now() };
      c.orm.update(apiTokens).set(revoked).where(eq(apiTokens.id, id)).run();
      this.#events.append({ kind: "token_revoked", actor, message: `token ${id} (${row.name}) was revoked` });
      return toToken({ ...row, ...revoked });
    });
  }

  /** All tokens, newest first, revoked and expired ones included. */
  async listTokens(): Promise<readonly ApiToken[]> {
    return this.#connection.single(() =>
      this.#connection.orm.select().from(apiTokens).orderBy(desc(apiTokens.id)).all().map(toToken),
    );
  }

  /**
   * The token of a secret; `undefined` when there is none, or it is revoked or expired. The search goes by hash, so its time
   * tells nothing about the secret. Remembers the use, to the minute.
   */
  async findToken(secret: string): Promise<ApiToken | undefined> {
    const hash = sha256(secret);
    const c = this.#connection;
    const row = c.single(() => c.orm.select().from(apiTokens).where(eq(apiTokens.secretHash, hash)).get());
    if (row === undefined || !equalSecretly(row.secretHash, hash)) return undefined;
    const now = c.now();
    if (row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= now)) return undefined;
    this.#rememberUse(row, now);
    return toToken(row);
  }

  #rememberUse(row: TokenRow, now: Instant): void {
    const c = this.#connection;
    const stale = toInstant(c.nowMs() - usePrecisionMs);
    if (row.lastUsedAt !== null && row.lastUsedAt > stale) return;
    const unseen = or(isNull(apiTokens.lastUsedAt), lt(apiTokens.lastUsedAt, now));
    c.administer(() =>
      c.orm
        .update(apiTokens)
        .set({ lastUsedAt: now })
        .where(and(eq(apiTokens.id, row.id), unseen))
        .run(),
    );
  }
}

function toToken(row: TokenRow): ApiToken {
  const { id, name, createdBy, createdAt } = row;
  return {
    id,
    name,
    createdBy,
    createdAt,
    capabilities: (JSON.parse(row.capabilities) as string[]).filter(isTokenCapability),
    namespaces: JSON.parse(row.namespaces) as string[],
    expiresAt: row.expiresAt ?? undefined,
    owner: row.owner ?? undefined,
    lastUsedAt: row.lastUsedAt ?? undefined,
    revokedAt: row.revokedAt ?? undefined,
  };
}

function checkedCapabilities(given: readonly string[]): readonly TokenCapability[] {
  const unknown = given.find((text) => !isTokenCapability(text));
  if (unknown !== undefined || given.length === 0) {
    throw new InvalidRequestError(`there is no capability ${JSON.stringify(unknown ?? "")}`, {
      code: "unknown_capability",
      hint: "capabilities: read, approve, promote, retry, deploy-now, pause, fetch, resolve, admin",
    });
  }
  return [...new Set(given.filter(isTokenCapability))];
}

function checkedNamespaces(given: readonly string[]): readonly string[] {
  const bad = given.find((glob) => !isNamespacePattern(glob));
  if (bad === undefined && given.length > 0) return [...new Set(given)];
  throw new InvalidRequestError(`${JSON.stringify(bad ?? "")} is no pattern of namespaces`, { code: "bad_namespace" });
}

function checkedName(given: string): string {
  const name = given.trim();
  if (/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u.test(name)) return name;
  throw new InvalidRequestError("a token's name has 1 to 100 letters, digits, spaces or any of . _ @ -", {
    code: "bad_token_name",
  });
}

function checkedOwner(given: string | undefined): string | null {
  if (given === undefined) return null;
  if (/^(local|nomad|oidc):\S{1,400}$/.test(given)) return given;
  throw new InvalidRequestError(`${JSON.stringify(given)} is no person`, {
    code: "bad_owner",
    hint: "a person is METHOD:SUBJECT as GET /api/v1/session shows it, for example local:anna",
  });
}

function expiry(nowMs: number, ttlMs: number | undefined): Instant | null {
  if (ttlMs === undefined) return null;
  const end = nowMs + ttlMs;
  // The last instant that sorts as text is in the year 9999.
  if (Number.isFinite(ttlMs) && ttlMs > 0 && end < Date.UTC(9999, 0)) return toInstant(end);
  throw new InvalidRequestError("a token's time to live must be positive and end before the year 9999", { code: "bad_ttl" });
}
