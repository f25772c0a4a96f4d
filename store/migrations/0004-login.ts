import type { Migration } from "./migration.ts";

/** How people come in: their sessions, the wrong logins that slow a guesser down, and whose API token it is. */
export const login: Migration = {
  number: 4,
  name: "login",
  sql: `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE CHECK (length(secret_hash) = 64),
  method TEXT NOT NULL CHECK (method IN ('local', 'nomad', 'oidc')),
  subject TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT,
  claims TEXT NOT NULL,
  checked_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  last_used_at TEXT NOT NULL,
  ends_at TEXT NOT NULL
) STRICT;

CREATE TABLE login_attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  source TEXT NOT NULL,
  account TEXT NOT NULL
) STRICT;
CREATE INDEX login_attempts_by_source ON login_attempts (source, at);
CREATE INDEX login_attempts_by_account ON login_attempts (account, at);
CREATE INDEX login_attempts_by_time ON login_attempts (at);

ALTER TABLE api_tokens ADD COLUMN owner TEXT;
`,
};
