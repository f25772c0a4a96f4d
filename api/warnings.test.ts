import { expect, it } from "vitest";
import type { StatusJson } from "./contract.ts";
import { warningsOf } from "./warnings.ts";

const repository: StatusJson["repositories"][number] = {
  name: "main",
  branch: "main",
  commit: "a".repeat(40),
  commit_subject: "Jobs",
  last_check_at: "2026-05-04T10:00:00.000Z",
  last_error: null,
  managed_jobs: 3,
  issues: [],
  held_commit: null,
};
const well: Omit<StatusJson, "warnings"> = {
  version: "0.1.0",
  mode: "active",
  repositories: [repository],
  nomad: { address: "http://127.0.0.1:4646", reachable: true, error: null, last_contact_at: null },
  started_at: null,
  loops: {},
  queues: {},
  counts: {},
  paused: { paused: false, reason: null, by: null, since: null },
};
const error = (file: string) => ({ severity: "error", file, line: null, message: "broken" }) as const;

it.each([
  ["all is well", {}, []],
  [
    "warnings of files are no errors",
    { repositories: [{ ...repository, issues: [{ ...error("a"), severity: "warn" as const }] }] },
    [],
  ],
  [
    "Nomad is away",
    { nomad: { ...well.nomad, reachable: false, error: "ECONNREFUSED" } },
    ["Nomad at http://127.0.0.1:4646 cannot be reached, so what is shown may be old: ECONNREFUSED"],
  ],
  ["it only looks", { mode: "read_only" as const }, ["this nops runs read-only: it starts nothing"]],
  ["it stands by", { mode: "standby" as const }, ["this nops stands by: another one holds the database"]],
  [
    "restored",
    { mode: "restored" as const },
    ["the database was restored: nothing is started until nops restore --accept and a restart of nops"],
  ],
  [
    "a pause of everything",
    { paused: { paused: true, reason: "fair", by: "ann", since: null } },
    ["every job is paused by ann: fair"],
  ],
  [
    "a repository that cannot be read",
    { repositories: [{ ...repository, last_error: "no such host" }] },
    ["repository main cannot be read: no such host"],
  ],
  [
    "broken files, the first three by name",
    { repositories: [{ ...repository, issues: ["a", "b", "c", "d", "e"].map(error) }] },
    ["main: a: broken", "main: b: broken", "main: c: broken", "main: 2 more errors in its files"],
  ],
  [
    "the place of a mistake, once",
    { repositories: [{ ...repository, issues: [{ ...error("a.hcl"), line: 7 }] }] },
    ["main: a.hcl:7: broken"],
  ],
] satisfies [string, Partial<StatusJson>, string[]][])("%s", (_name, over, lines) => {
  expect(warningsOf({ ...well, ...over })).toEqual(lines);
});
