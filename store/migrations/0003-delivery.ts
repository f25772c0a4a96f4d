import type { Migration } from "./migration.ts";

/** What leaves the house: notifications that wait to be sent, and the tokens by which programs come in. */
export const delivery: Migration = {
  number: 3,
  name: "delivery",
  sql: `
CREATE TABLE notifications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('pending_approval', 'failed', 'promotion_wait', 'completed')),
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'delivered', 'given_up')),
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at TEXT NOT NULL,
  delivered_to TEXT NOT NULL DEFAULT '[]',
  last_error TEXT,
  finished_at TEXT
) STRICT;
CREATE INDEX notifications_due ON notifications (due_at, id) WHERE status = 'waiting';
CREATE INDEX notifications_by_deployment ON notifications (deployment_id);

CREATE TABLE api_tokens (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE CHECK (length(secret_hash) = 64),
  capabilities TEXT NOT NULL,
  namespaces TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  last_used_at TEXT,
  revoked_by TEXT,
  revoked_at TEXT,
  CHECK ((revoked_by IS NULL) = (revoked_at IS NULL))
) STRICT;
`,
};
