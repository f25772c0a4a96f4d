import type { Migration } from "./migration.ts";

/** What detection remembers: verdicts of plans, what each file declared, how far each repository was read. */
export const detection: Migration = {
  number: 2,
  name: "detection",
  sql: `
CREATE TABLE verdicts (
  namespace TEXT NOT NULL,
  job_id TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  target_hash TEXT NOT NULL,
  job_modify_index INTEGER NOT NULL CHECK (job_modify_index >= 0),
  drift TEXT NOT NULL CHECK (drift IN ('none', 'own_keys', 'unknown', 'drift')),
  diff TEXT,
  failed_placements TEXT NOT NULL,
  warnings TEXT NOT NULL,
  planned_at TEXT NOT NULL,
  PRIMARY KEY (namespace, job_id)
) STRICT;

-- Differences that Nomad reports without naming a field, registered once per spec.
CREATE TABLE unknown_registrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  job_id TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  at TEXT NOT NULL,
  UNIQUE (namespace, job_id, spec_hash)
) STRICT;

CREATE TABLE repositories (
  name TEXT PRIMARY KEY NOT NULL,
  last_good_commit TEXT,
  accepted_commit TEXT,
  updated_at TEXT NOT NULL
) STRICT;

-- A file whose keys are not known has one row with empty namespace and job_id.
CREATE TABLE job_files (
  repository TEXT NOT NULL,
  file TEXT NOT NULL,
  namespace TEXT NOT NULL,
  job_id TEXT NOT NULL,
  PRIMARY KEY (repository, file, namespace, job_id)
) STRICT, WITHOUT ROWID;
`,
};
