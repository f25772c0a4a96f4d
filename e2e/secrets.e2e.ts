/**
 * Planted secrets at the real process (reliability S01–S06): whatever nops shows, sends, logs or keeps for people to read, none of them
 * is in it. What it has to keep in order to register it (the target, the frozen hooks) lies in the private database only (S07).
 */
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeploymentJson } from "../api/contract.ts";
import { startHttpServer, type TestServer } from "../testkit/http-server.ts";
import { type ServedNops, type ServingPlace, servingPlace } from "../testkit/served-nops.ts";
import { hookJob } from "./suites/job-text.ts";

const versions = [1, 2, 3];

/** The secrets of a version of the job file; two versions share none, so that each is seen as old and as new. */
const secretsOf = (version: number) => ({
  urlPassword: `Url-Passw0rd-${version}`,
  environment: `Env-Tok3n-Value-${version}`,
  template: `Tmpl-S3cret-${version}`,
  meta: `Meta-S3cret-${version}`,
  flag: `Flag-T0ken-${version}`,
  nextWord: `Word-T0ken-${version}`,
});

const hookSecret = "Hook-Passw0rd-9";
const brokenSecret = "Broken-Passw0rd-8";
const echoedSecret = "Echo-Passw0rd-7";
const registrySecret = "Registry-Passw0rd-6";

const planted = [
  ...versions.flatMap((version) => Object.values(secretsOf(version))),
  hookSecret,
  brokenSecret,
  echoedSecret,
  registrySecret,
  "served-nops-token",
];

/** The first version goes through without a hook; later ones move a secret of the first to a place where none is expected (S06). */
const vault = (version: number): string => {
  const secret = secretsOf(version);
  const later = version === 1 ? "" : `nops_pre_hook = "migrate"\n    note = "${secretsOf(1).environment}"`;
  return `job "vault-user" {
  meta {
    nops_managed = "true"
    nops_policy  = "approval"
    db_password  = "${secret.meta}"
    ${later}
  }
  group "main" {
    update {
      min_healthy_time = "100ms"
    }
    task "main" {
      driver       = "raw_exec"
      kill_timeout = "100ms"
      config {
        command = "/bin/app-${version}"
        args    = ["--api-token=${secret.flag}", "--db-password", "${secret.nextWord}"]
      }
      env {
        DATABASE_URL = "postgres://app:${secret.urlPassword}@db.internal/app"
        SESSION_KEY  = "${secret.environment}"
      }
      template {
        destination = "secrets/app.env"
        data        = "API_PASSWORD=${secret.template}"
      }
    }
  }
}
`;
};

const refused = `job "refused" {
  meta {
    nops_managed = "true"
    nops_policy  = "auto"
    db_password  = "${echoedSecret}"
  }
  group "main" {
    task "main" {
      driver = "docker"
      config {
        image = "app:1"
        auth {
          username = "robot"
          password = "${registrySecret}"
        }
      }
    }
  }
}
`;

const broken = `job "broken" {
  meta {
    db_password = "${brokenSecret}" oops
  }
}
`;

let place: ServingPlace;
let nops: ServedNops;
let receiver: TestServer;
let dataDir: string;
/** Ended with a hook that told its log, and one that waits with its diff. */
let failed: DeploymentJson;
let pending: DeploymentJson;

beforeAll(async () => {
  place = await servingPlace();
  receiver = await startHttpServer((_request, response) => void response.end());
  dataDir = join(place.folder, "data");
  // A Nomad, or a proxy before it, that answers a refused register with what was sent.
  place.simulator.faults.add({
    kind: "status",
    method: "PUT",
    path: "/v1/jobs",
    status: 500,
    text: `rejected: {"Job":{"ID":"refused","Meta":{"db_password":"${echoedSecret}"}}}`,
  });
  nops = await place.serve(dataDir, `--config=${configFile()}`, "--engine-apply-timeout=3s", "--log-level=debug");
  await commit({
    "migrate.hcl": hookJob("migrate", `echo connecting with password=${hookSecret}; exit 3`),
    "vault.hcl": vault(1),
    "refused.hcl": refused,
    "broken.hcl": broken,
  });
  await nops.untilDeployment("refused", ({ state }) => state === "failed");
  place.simulator.faults.clear();
  await approve();
  await nops.untilDeployment("vault-user", ({ state }) => state === "completed");
  await commit({ "vault.hcl": vault(2) });
  await approve();
  failed = await nops.untilDeployment("vault-user", ({ state }) => state === "failed");
  await commit({ "vault.hcl": vault(3) });
  pending = await nops.untilDeployment("vault-user", ({ state }) => state === "pending_approval");
});

afterAll(async () => {
  await place.close();
  await receiver.close();
});

function configFile(): string {
  const config = join(place.folder, "config");
  mkdirSync(config);
  writeFileSync(join(config, "receiver"), `${receiver.address}/hook`, { mode: 0o600 });
  const file = join(config, "nops.yml");
  writeFileSync(file, `notifications:\n  - type: webhook\n    url_file: ${join(config, "receiver")}\n`);
  return file;
}

async function commit(files: Readonly<Record<string, string>>): Promise<void> {
  await place.repository.commit({ files });
  expect((await nops.cli("fetch")).code).toBe(0);
}

async function approve(): Promise<void> {
  const { id } = await nops.untilDeployment("vault-user", ({ state }) => state === "pending_approval");
  const { code, stderr } = await nops.cli("approve", id, "--yes");
  expect(code, stderr).toBe(0);
}

const foundIn = (text: string): string[] => planted.filter((secret) => text.includes(secret));

/** Every GET of the API with the names that exist here. */
async function everyPath(): Promise<string[]> {
  const { paths } = await nops.get<{ paths: Record<string, Record<string, unknown>> }>("/api/v1/openapi.json");
  const declared = Object.keys(paths).filter((path) => "get" in (paths[path] ?? {}));
  const filled = declared.flatMap((path) =>
    ["vault-user", "refused", "broken", "migrate"].flatMap((job) =>
      [failed, pending].map(({ id }) => path.replace("{namespace}", "default").replace("{job}", job).replace("{id}", id)),
    ),
  );
  return [...new Set([...filled, "/metrics", "/version", "/healthz", "/readyz", "/api/v1/openapi.json", "/"])];
}

describe("planted secrets", () => {
  it("are in no answer of the API, of any route (S01, S03, S05, S06)", async () => {
    const paths = await everyPath();
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths) {
      const answer = await fetch(`${nops.address}${path}`, { headers: { authorization: "Bearer served-nops-token" } });
      expect(foundIn(await answer.text()), path).toEqual([]);
    }
  });

  it("leave a diff and a log that still say what happens", async () => {
    const waiting = JSON.stringify(await nops.get(`/api/v1/deployments/${pending.id}`));
    for (const text of ["SESSION_KEY", "DATABASE_URL", "db_password", "/bin/app-1", "/bin/app-3", "<redacted>"])
      expect(waiting).toContain(text);
    const ended = JSON.stringify(await nops.get(`/api/v1/deployments/${failed.id}`));
    expect(ended).toContain("connecting with password=<redacted>");
  });

  it.each([
    ["jobs", "--json"],
    ["job", "vault-user"],
    ["job", "refused", "--json"],
    ["explain", "vault-user"],
    ["status"],
    ["explain", "refused"],
    ["deployments", "--json"],
    ["deployment", "vault-user"],
    ["deployment", "vault-user", "--json"],
    ["deployment", "refused"],
    ["events", "--limit", "500", "--json"],
    ["approve", "vault-user"],
  ])("are not in what people's commands print: %s %s", async (...args) => {
    const { stdout, stderr } = await nops.cli(...args);
    expect(`${stdout}${stderr}`.length).toBeGreaterThan(50);
    expect(foundIn(stdout + stderr)).toEqual([]);
  });

  it("are not in what a notification carries", () => {
    expect(receiver.seen.map((request) => JSON.parse(request.body) as { event?: string }).length).toBeGreaterThanOrEqual(3);
    expect(receiver.seen.filter((request) => foundIn(request.body).length > 0)).toEqual([]);
  });

  it("are in no column of the database but the three that hold what is to be registered", () => {
    const database = new Database(join(dataDir, "nops.db"), { readonly: true });
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];
    const holding = new Set<string>();
    for (const table of tables)
      for (const row of database.prepare(`SELECT * FROM "${table}"`).iterate() as Iterable<Record<string, unknown>>)
        for (const [column, value] of Object.entries(row))
          if (typeof value === "string" && foundIn(value).length > 0) holding.add(`${table}.${column}`);
    database.close();
    expect([...holding].sort()).toEqual(["deployment_hooks.spec", "deployments.job_spec", "deployments.submission"]);
  });

  it("lie in files that only their owner reads (S07)", () => {
    for (const name of readdirSync(dataDir).filter((each) => each.startsWith("nops.db")))
      expect(statSync(join(dataDir, name)).mode & 0o077, name).toBe(0);
    expect(statSync(dataDir).mode & 0o077).toBe(0);
  });

  it("are not in the log, at its most talkative", async () => {
    await nops.stop();
    const { stdout, stderr } = await nops.process.finished;
    expect(stdout + stderr).toMatch(/"job":"vault-user".*"to":"failed".*"msg":"a deployment failed"/);
    expect(foundIn(stdout + stderr)).toEqual([]);
  });
});
