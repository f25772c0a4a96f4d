import type { Migration } from "./migration.ts";

/** Deployments, their hooks and runs, decisions, holds, and the audit log (contract §5, operator §18). */
export const lifecycle: Migration = {
  number: 1,
  name: "lifecycle",
  sql: `
CREATE TABLE deployments (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 26),
  namespace TEXT NOT NULL CHECK (namespace <> ''),
  job_id TEXT NOT NULL CHECK (job_id <> ''),
  repository TEXT NOT NULL,
  commit_sha TEXT NOT NULL,
  commit_subject TEXT NOT NULL,
  commit_author TEXT NOT NULL,
  commit_author_email TEXT NOT NULL,
  file TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  target_hash TEXT NOT NULL,
  policy TEXT NOT NULL CHECK (policy IN ('auto', 'approval')),
  declared_policy TEXT NOT NULL CHECK (declared_policy IN ('auto', 'approval')),
  state TEXT NOT NULL CHECK (state IN ('detected', 'pending_approval', 'pre_hook', 'applying', 'post_hook',
    'completed', 'failed', 'rejected', 'superseded')),
  birth_state TEXT NOT NULL CHECK (birth_state IN ('detected', 'pending_approval', 'failed')),
  mode TEXT NOT NULL CHECK (mode IN ('apply', 'verify')),
  version INTEGER NOT NULL CHECK (version >= 1),
  base_index INTEGER NOT NULL CHECK (base_index >= 0),
  applied_index INTEGER CHECK (applied_index > 0),
  applied_version INTEGER CHECK (applied_version >= 0),
  eval_id TEXT,
  error TEXT,
  reason TEXT,
  has_pre_hooks INTEGER NOT NULL CHECK (has_pre_hooks IN (0, 1)),
  has_post_hooks INTEGER NOT NULL CHECK (has_post_hooks IN (0, 1)),
  notify_completed INTEGER NOT NULL CHECK (notify_completed IN (0, 1)),
  decided_by TEXT,
  decided_at TEXT,
  retried_by TEXT,
  retried_at TEXT,
  retry_of TEXT REFERENCES deployments (id) ON DELETE SET NULL,
  reschedule INTEGER NOT NULL CHECK (reschedule IN (0, 1)),
  reschedule_intent_at TEXT,
  rerun_unknown_hooks INTEGER NOT NULL DEFAULT 0 CHECK (rerun_unknown_hooks IN (0, 1)),
  promotion_wait_since TEXT,
  promoted_at TEXT,
  window_lifted_by TEXT,
  entered_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  -- The heavy columns come last, so that reading the others never walks their overflow pages.
  stored_hash TEXT NOT NULL,
  plan_diff TEXT,
  job_spec TEXT NOT NULL,
  submission TEXT NOT NULL,
  CHECK (state <> 'failed' OR error IS NOT NULL),
  CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
  CHECK ((retried_by IS NULL) = (retried_at IS NULL)),
  CHECK (retried_at IS NULL OR state IN ('failed', 'rejected')),
  CHECK (state <> 'pre_hook' OR (has_pre_hooks = 1 AND mode = 'apply')),
  CHECK (state <> 'post_hook' OR has_post_hooks = 1)
) STRICT;

-- The job lock: at most one deployment of a job is under way.
CREATE UNIQUE INDEX deployments_one_active ON deployments (namespace, job_id)
  WHERE state IN ('detected', 'pending_approval', 'pre_hook', 'applying', 'post_hook');
CREATE INDEX deployments_by_job ON deployments (namespace, job_id, id);
CREATE INDEX deployments_completed ON deployments (namespace, job_id, id) WHERE state = 'completed';
CREATE INDEX deployments_by_state ON deployments (state, id);
CREATE INDEX deployments_by_commit ON deployments (repository, commit_sha);
CREATE INDEX deployments_by_predecessor ON deployments (retry_of) WHERE retry_of IS NOT NULL;

CREATE TABLE deployment_hooks (
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  phase TEXT NOT NULL CHECK (phase IN ('pre', 'post')),
  position INTEGER NOT NULL CHECK (position >= 0),
  hook_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  revision_id TEXT NOT NULL,
  timeout_ms INTEGER NOT NULL CHECK (timeout_ms > 0),
  stored_hash TEXT NOT NULL,
  spec TEXT NOT NULL,
  PRIMARY KEY (deployment_id, phase, position)
) STRICT;

CREATE TABLE hook_runs (
  id TEXT PRIMARY KEY NOT NULL,
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  phase TEXT NOT NULL CHECK (phase IN ('pre', 'post')),
  position INTEGER NOT NULL CHECK (position >= 0),
  hook_id TEXT NOT NULL,
  hook_job_id TEXT NOT NULL,
  idempotency_token TEXT NOT NULL UNIQUE,
  dispatched_job_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('dispatching', 'running', 'succeeded', 'failed', 'timed_out', 'unknown')),
  timeout_ms INTEGER NOT NULL CHECK (timeout_ms > 0),
  error TEXT,
  log_tail TEXT,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  searching_since TEXT,
  resolution TEXT CHECK (resolution IN ('ran', 'did_not_run')),
  resolved_by TEXT,
  resolved_at TEXT,
  UNIQUE (deployment_id, phase, position),
  CHECK ((finished_at IS NULL) = (state IN ('dispatching', 'running'))),
  CHECK (resolution IS NULL OR state = 'unknown')
) STRICT;

CREATE TABLE approvals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  spec_hash TEXT NOT NULL,
  actor TEXT NOT NULL,
  identity TEXT NOT NULL,
  accessor_id TEXT,
  comment TEXT,
  at TEXT NOT NULL,
  UNIQUE (deployment_id, identity)
) STRICT;

CREATE TABLE job_pauses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  job_id TEXT NOT NULL,
  paused_by TEXT NOT NULL,
  paused_at TEXT NOT NULL,
  reason TEXT NOT NULL,
  resumed_by TEXT,
  resumed_at TEXT,
  CHECK ((resumed_by IS NULL) = (resumed_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX job_pauses_one_in_force ON job_pauses (namespace, job_id) WHERE resumed_at IS NULL;

CREATE TABLE nops_pauses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  paused_by TEXT NOT NULL,
  paused_at TEXT NOT NULL,
  reason TEXT NOT NULL,
  resumed_by TEXT,
  resumed_at TEXT,
  CHECK ((resumed_by IS NULL) = (resumed_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX nops_pauses_one_in_force ON nops_pauses (resumed_at IS NULL) WHERE resumed_at IS NULL;

CREATE TABLE window_lifts (
  namespace TEXT NOT NULL,
  job_id TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  requested_by TEXT NOT NULL,
  requested_at TEXT NOT NULL,
  PRIMARY KEY (namespace, job_id)
) STRICT;

-- No foreign key to deployments: the log outlives what it tells about.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ts TEXT NOT NULL,
  kind TEXT NOT NULL,
  namespace TEXT,
  job_id TEXT,
  repository TEXT,
  deployment_id TEXT,
  from_state TEXT,
  to_state TEXT,
  actor TEXT NOT NULL,
  accessor_id TEXT,
  identity TEXT,
  reason TEXT,
  message TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_deployment ON events (deployment_id, id) WHERE deployment_id IS NOT NULL;
CREATE INDEX events_by_job ON events (namespace, job_id, id) WHERE job_id IS NOT NULL;

-- Where the log begins when old events were removed by retention: the last removed one.
CREATE TABLE event_anchors (
  seq INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events BEGIN
  SELECT RAISE(ABORT, 'events are never changed');
END;
CREATE TRIGGER events_only_retention_deletes BEFORE DELETE ON events
  WHEN NOT EXISTS (SELECT 1 FROM event_anchors WHERE seq >= OLD.id) BEGIN
  SELECT RAISE(ABORT, 'events are never deleted');
END;
CREATE TRIGGER deployments_end_is_final BEFORE UPDATE OF state ON deployments
  WHEN OLD.state IN ('completed', 'failed', 'rejected', 'superseded') AND NEW.state <> OLD.state BEGIN
  SELECT RAISE(ABORT, 'a finished deployment keeps its state');
END;

CREATE TABLE meta (
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT;
`,
};
