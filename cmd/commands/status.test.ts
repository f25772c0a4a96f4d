import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { StatusJson } from "../../api/contract.ts";
import { commandLine } from "../../testkit/command-line.ts";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { testWorkspace } from "../../testkit/workspace.ts";

const status: StatusJson = {
  version: "0.1.0",
  mode: "active",
  started_at: "2026-05-04T10:00:00.000Z",
  repositories: [
    {
      name: "main",
      branch: "trunk",
      commit: "a".repeat(40),
      commit_subject: "Three webs",
      last_check_at: null,
      last_error: null,
      managed_jobs: 3,
      issues: [{ severity: "error", file: "a.hcl", line: 2, message: "broken" }],
      held_commit: "b".repeat(40),
    },
    {
      name: "other",
      branch: "main",
      commit: null,
      commit_subject: null,
      last_check_at: null,
      last_error: "no such host\u001b[31m",
      managed_jobs: 0,
      issues: [],
      held_commit: null,
    },
  ],
  nomad: { address: "http://nomad:4646", reachable: false, error: "ECONNREFUSED", last_contact_at: null },
  loops: { drift: null },
  queues: { drift: { waiting: 4, running: 1, failing: 2 } },
  counts: { sync: 2, pending: 1, drift: 0, deployments_pending_approval: 1, deployments_completed: 9, orphans: 0 },
  paused: { paused: true, reason: "freeze", by: "ann", since: "2026-05-04T09:00:00.000Z" },
  warnings: ["Nomad at http://nomad:4646 cannot be reached"],
};

const asked: string[] = [];
beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(url.href);
    return Response.json(status);
  });
});
afterEach(() => vi.unstubAllGlobals());

it("shows instance, Nomad, pause, counts, repositories, loops and warnings", async () => {
  const { code, out, err } = await commandLine(["status", "operator"], { env: { NOPS_ADDR: "http://nops:1" } });
  expect(code).toBe(0);
  expect(asked).toEqual(["http://nops:1/api/v1/status"]);
  expect(out).toMatch(/^nops: +0\.1\.0, active, at http:\/\/nops:1, started \d+d ago$/m);
  expect(out).toMatch(/^Nomad: +http:\/\/nomad:4646, unreachable: ECONNREFUSED$/m);
  expect(out).toMatch(/^Paused: +every job, by ann since 2026-05-04T09:00:00.000Z: freeze$/m);
  expect(out).toMatch(/^Jobs: +1 pending, 2 sync$/m);
  expect(out).toMatch(/^Deployments: +1 pending_approval$/m);
  expect(out).toMatch(/^main +trunk +aaaaaaaa \(bbbbbbbb held\) +- +3 +1 error, 0 warnings +Three webs$/m);
  expect(out).toMatch(/^other +main +- +- +0 +0 errors, 0 warnings +no such host\\u001b\[31m$/m);
  expect(out).toMatch(/^drift +4 +1 +2 +-$/m);
  expect(err).toBe("warning: Nomad at http://nomad:4646 cannot be reached\n");
});

it("as JSON is what the API answers", async () => {
  expect(JSON.parse((await commandLine(["status", "operator", "--json"])).out)).toEqual(status);
});

it("is what status means outside of a workspace, and with an address", async () => {
  const outside = tempFolder();
  expect((await commandLine(["status"], { folder: outside })).out).toContain("0.1.0, active");
  const { root } = testWorkspace({});
  expect((await commandLine(["status"], { folder: root })).out).not.toContain("active");
  expect((await commandLine(["status", "--addr", "http://nops:2"], { folder: root })).out).toContain(
    "0.1.0, active, at http://nops:2",
  );
});

it("where there is neither a workspace nor a server, says both", async () => {
  vi.stubGlobal("fetch", async () => Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" })));
  const folder = tempFolder();
  const { code, err } = await commandLine(["status"], { folder });
  expect(code).toBe(5);
  expect(err).toContain(`no nops.workspace.yml in ${folder} or above it, and cannot reach nops at http://127.0.0.1:1`);
});
