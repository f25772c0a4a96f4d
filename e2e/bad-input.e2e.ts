/** What people get wrong, at the real process: each fault is told precisely, everything else goes on, and nothing is lost. */
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator, type Simulator } from "../simulator/server.ts";
import { type NopsProcess, runNops, startNopsProcess } from "../testkit/nops-process.ts";
import { createTempRepository, type TempRepository } from "../testkit/temp-git.ts";

const patienceMs = 60_000;
const token = "bad-input-token";
const cleanUps: (() => unknown)[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nops-bad-input-"));
  // For the process that runs as somebody else.
  await chmod(folder, 0o755);
  await writeFile(join(folder, "token"), token, { mode: 0o644 });
});

afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await rm(folder, { recursive: true, force: true });
});

function job(name: string, argument = "600", more = ""): string {
  return `job "${name}" {
  meta {
    nops_managed = "true"
    nops_policy  = "auto"${more}
  }
  group "main" {
    update {
      min_healthy_time = "0s"
    }
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["${argument}"]
      }
    }
  }
}
`;
}

async function repositoryWith(files: Readonly<Record<string, string>>): Promise<TempRepository> {
  const repository = await createTempRepository();
  cleanUps.push(repository.remove);
  await repository.commit({ files });
  return repository;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

interface Running {
  readonly nops: NopsProcess;
  readonly address: string;
  get<T>(path: string): Promise<T>;
  until<T>(path: string, satisfied: (answer: T) => boolean): Promise<T>;
}

async function serve(name: string, config: string, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const file = join(folder, `${name}.yml`);
  await writeFile(
    file,
    `data_dir: ${join(folder, name)}\nhttp:\n  listen: 127.0.0.1:0\nauth:\n  bootstrap_token_file: ${join(folder, "token")}\n${config}`,
  );
  const nops = startNopsProcess(["serve", "--config", file], { env });
  cleanUps.push(async () => {
    nops.kill("SIGTERM");
    await nops.finished;
  });
  const address = (await nops.printed(/"address":"(http:[^"]+)"/))[1] ?? "";
  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${address}${path}`, { headers: { authorization: `Bearer ${token}` } })).json()) as T;
  const until = async <T>(path: string, satisfied: (answer: T) => boolean): Promise<T> => {
    const deadline = systemClock.now() + patienceMs;
    for (;;) {
      const answer = await get<T>(path);
      if (satisfied(answer)) return answer;
      if (systemClock.now() > deadline) throw new Error(`${path} stayed ${JSON.stringify(answer)}\n${nops.stderr()}`);
      await systemClock.sleep(50);
    }
  };
  return { nops, address, get, until };
}

interface Jobs {
  readonly jobs: readonly {
    readonly job: string;
    readonly sync: string;
    readonly reason: string;
    readonly message: string;
    readonly commit: string;
  }[];
}
interface Status {
  readonly repositories: readonly {
    readonly name: string;
    readonly commit: string;
    readonly held_commit: string | null;
    readonly last_error: string | null;
    readonly issues: readonly { readonly file: string; readonly line: number | null; readonly message: string }[];
  }[];
}
interface Ready {
  readonly ready: boolean;
  readonly reasons: Readonly<Record<string, string>>;
}

const inSync = (count: number) => (answer: Jobs) =>
  answer.jobs.length === count && answer.jobs.every(({ sync }) => sync === "sync");

describe("a start that cannot be", () => {
  it("names every wrong key of the configuration at once, with its place", async () => {
    const file = join(folder, "wrong.yml");
    await writeFile(file, "nomad:\n  adress: x\nengine:\n  concurrency: many\n  apply_timeout: 90\nrepositories: []\n");
    const { code, stderr } = await runNops(["serve", "--config", file]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:2:3 nomad.adress: unknown key (did you mean "address"?)`);
    expect(stderr).toContain(`${file}:4:3 engine.concurrency: must be a number, not a string`);
    expect(stderr).toContain(`${file}:5:3 engine.apply_timeout: must be a duration such as "90s" or "1h30m", not a number`);
    expect(stderr).toContain(`${file}:6:1 repositories: at least one repository is needed (--git-url names one)`);
  });

  it("says which folder cannot be written, and what to do", async () => {
    const readOnly = join(folder, "read-only");
    await mkdir(readOnly);
    await chmod(readOnly, 0o555);
    // Root may write everywhere.
    const somebody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const start = (dataDir: string) =>
      runNops(["serve", "--git-url", folder, "--data-dir", dataDir, "--listen", "127.0.0.1:0"], somebody);
    const [below, itself] = await Promise.all([start(join(readOnly, "data")), start(readOnly)]);
    expect(below).toMatchObject({
      code: 2,
      stderr: `nops: cannot create the data folder ${readOnly}/data: EACCES\nhint: choose another with --data-dir, or make its parent writable\n`,
    });
    expect(itself).toMatchObject({
      code: 2,
      stderr: `nops: cannot open the lock file ${readOnly}/nops.lock: EACCES\nhint: its folder must be writable for the user nops runs as\n`,
    });
  });

  it("ends at once when its address is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const started = runNops(["serve", "--git-url", folder, "--data-dir", join(folder, "taken"), "--listen", address]);
    const { code, stderr } = await started.finally(() => taken.close());
    expect(code).toBe(2);
    expect(stderr).toContain(
      `nops: cannot listen on ${address}: EADDRINUSE\nhint: another program listens there; choose another address with --listen\n`,
    );
  });

  it("refuses the database of a newer version and leaves it as it is", async () => {
    const dataDir = join(folder, "newer");
    expect((await runNops(["token", "create", "x", "--data-dir", dataDir])).code).not.toBe(0);
    const first = await serve("newer", `repositories:\n  - {name: main, url: ${folder}}\n`);
    first.nops.kill("SIGTERM");
    await first.nops.finished;
    const path = join(dataDir, "nops.db");
    const database = new Database(path);
    database.prepare("INSERT INTO schema_migrations VALUES (99, 'later', 'x', '2030-01-01T00:00:00Z')").run();
    database.close();
    const { code, stderr } = await runNops(["serve", "--config", join(folder, "newer.yml")]);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`the database ${path} has schema 99, this nops knows schemas up to \\d+`));
    expect(stderr).toContain("start the newer nops again, or restore a backup made before the update");
    const again = new Database(path, { readonly: true });
    expect(again.prepare("SELECT max(number) FROM schema_migrations").pluck().get()).toBe(99);
    again.close();
  });

  it("plan says that a folder is no checkout, and what to name", async () => {
    await mkdir(join(folder, "empty"));
    expect(await runNops(["plan", join(folder, "empty")])).toMatchObject({
      code: 4,
      stderr: `nops: ${folder}/empty is not a git repository\nhint: name a git checkout, or run the command inside one\n`,
    });
  });
});

describe("a commit full of faults", () => {
  let simulator: Simulator;
  let nomad: string;
  let repository: TempRepository;
  let running: Running;
  const names = ["broken", "unset", "twice", "typo", "good", "other"];

  beforeAll(async () => {
    simulator = createSimulator({ clock: systemClock });
    nomad = (await simulator.listen(0)).address;
    cleanUps.push(() => simulator.close());
    repository = await repositoryWith(Object.fromEntries(names.map((name) => [`${name}.nomad.hcl`, job(name)])));
    running = await serve(
      "faults",
      `nomad:\n  address: ${nomad}\nrepositories:\n  - {name: main, url: ${repository.dir}, poll_interval: 1s}\n`,
    );
    await running.until<Jobs>("/api/v1/jobs", inSync(names.length));
  }, 2 * patienceMs);

  it("freezes the jobs of the faulty files, each with its message, and deploys the others", async () => {
    const commit = await repository.commit({
      files: {
        "broken.nomad.hcl": 'job "broken" {\n  group "main" {\n',
        "unset.nomad.hcl": `variable "tag" {}\n${job("unset")}`,
        "twice-again.nomad.hcl": job("twice"),
        "typo.nomad.hcl": job("typo", "600", '\n    nops_sync_window = "monday"\n    nops_polcy = "auto"'),
        "foreign.nomad.hcl": 'job "[[ .job ]]" {\n  datacenters = [[ .datacenters | toStringList ]]\n}\n',
        "huge.nomad.hcl": `${job("huge")}${"#".repeat(2 * 1024 * 1024)}`,
        "good.nomad.hcl": job("good", "700"),
      },
    });
    const { jobs } = await running.until<Jobs>("/api/v1/jobs", (answer) =>
      answer.jobs.some((row) => row.job === "good" && row.commit === commit && row.sync === "sync"),
    );
    const rows = Object.fromEntries(jobs.map((row) => [row.job, row]));
    expect(rows).toMatchObject({
      broken: {
        sync: "frozen",
        reason: "file_broken",
        message: expect.stringMatching(/^line 2: .*Unclosed configuration block/),
      },
      unset: {
        sync: "frozen",
        reason: "file_broken",
        message:
          'line 1: variable "tag" has no default, and no value is set for it; var_files, variables, or a .vars.hcl beside the file can',
      },
      twice: {
        sync: "frozen",
        reason: "duplicate_job",
        message: "the job is declared by main:twice-again.nomad.hcl and main:twice.nomad.hcl; keep one of them",
      },
      typo: { sync: "invalid", reason: "invalid_meta", message: expect.stringContaining("nops_sync_window:") },
      good: { sync: "sync" },
      other: { sync: "sync" },
    });
    const { repositories } = await running.get<Status>("/api/v1/status");
    const issuesOf = (file: string): string[] =>
      (repositories[0]?.issues ?? [])
        .filter((issue) => issue.file === file)
        .map(({ line, message }) => `${line === null ? "" : `line ${line}: `}${message}`);
    expect(issuesOf("foreign.nomad.hcl")).toEqual([
      "line 1: holds [[ ]] placeholders of Nomad Pack or Levant; render it and commit the result",
    ]);
    expect(issuesOf("huge.nomad.hcl")).toEqual([
      "passed over: it is larger than 1 MiB; make it smaller, or name it under ignore",
    ]);
    expect(issuesOf("typo.nomad.hcl").join("\n")).toMatch(/^line \d+: nops_polcy: unknown key, ignored/m);
    expect(await running.get<Ready>("/readyz")).toEqual({ ready: true, reasons: {} });
    await expectAllRunning();
  });

  it("stops nothing when a commit deletes everything, and says what to type", async () => {
    const commit = await repository.commit({ files: { "read.me": "nothing" }, replace: true });
    const { repositories } = await running.until<Status>(
      "/api/v1/status",
      (answer) => answer.repositories[0]?.held_commit === commit,
    );
    expect(repositories[0]?.issues[0]?.message).toBe(
      `commit ${commit.slice(0, 12)} loses 6 of 6 jobs; the previous state stays until: nops fetch main --accept`,
    );
    expect((await running.get<Jobs>("/api/v1/jobs")).jobs.filter(({ sync }) => sync === "orphan")).toEqual([]);
    await expectAllRunning();
  });

  it("answers a wrong token with what to do", async () => {
    await writeFile(join(folder, "wrong-token"), "wrong");
    const ask = (...more: string[]) => runNops(["jobs", "--addr", running.address, ...more]);
    const [none, wrong] = await Promise.all([ask(), ask("--token-file", join(folder, "wrong-token"))]);
    const hint = "hint: create one with: nops token create NAME, and pass it by --token-file or NOPS_TOKEN_FILE\n";
    expect(none).toMatchObject({ code: 1, stderr: `nops: a token is needed\n${hint}` });
    expect(wrong).toMatchObject({ code: 1, stderr: `nops: the token is not valid\n${hint}` });
  });

  async function expectAllRunning(): Promise<void> {
    const live = (await (await fetch(`${nomad}/v1/jobs`)).json()) as readonly { ID: string; Status: string }[];
    expect(live.map(({ ID, Status }) => `${ID} ${Status}`).sort()).toEqual(names.map((name) => `${name} running`).sort());
  }
});

describe("a world that is not there", () => {
  it("names the Nomad and the repository that cannot be reached, keeps trying, and goes on when they come", async () => {
    const port = await freePort();
    const good = await repositoryWith({ "web.nomad.hcl": job("web") });
    const missing = join(folder, "not-yet");
    const { nops, address, get, until } = await serve(
      "away",
      `nomad:\n  address: http://127.0.0.1:${port}\nrepositories:\n  - {name: good, url: ${good.dir}, poll_interval: 1s}\n  - {name: missing, url: ${missing}, poll_interval: 1s}\n`,
    );
    const { reasons } = await until<Ready>(
      "/readyz",
      ({ reasons: each }) => each["repository good"]?.includes("parse") === true && each["repository missing"] !== "not read yet",
    );
    expect(reasons).toEqual({
      nomad: `no connection to Nomad at http://127.0.0.1:${port} (ECONNREFUSED)`,
      "repository good": `cannot parse the job file: no connection to Nomad at http://127.0.0.1:${port} (ECONNREFUSED); check the address of Nomad, its certificate, and that it runs`,
      "repository missing": `${missing} does not exist or cannot be read; set url to a repository's folder, and let the user of nops read it`,
      "namespace default": "its jobs have not been listed yet",
    });
    expect((await fetch(`${address}/readyz`)).status).toBe(503);
    expect(nops.stderr()).toContain('"unusable":0');
    const simulator = createSimulator({ clock: systemClock });
    await simulator.listen(port);
    cleanUps.push(() => simulator.close());
    await until<Jobs>("/api/v1/jobs", inSync(1));
    const late = await repositoryWith({ "late.nomad.hcl": job("late") });
    await rename(late.dir, missing);
    await fetch(`${address}/api/v1/fetch`, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    await until<Jobs>("/api/v1/jobs", inSync(2));
    expect(await get<Ready>("/readyz")).toEqual({ ready: true, reasons: {} });
  });

  it("says that Nomad refuses the token, and takes the right one from its file without a restart", async () => {
    const simulator = createSimulator({ clock: systemClock, acl: true });
    const nomad = (await simulator.listen(0)).address;
    cleanUps.push(() => simulator.close());
    const bootstrapped = (await (await fetch(`${nomad}/v1/acl/bootstrap`, { method: "POST" })).json()) as { SecretID: string };
    const file = join(folder, "nomad-token");
    await writeFile(file, "3b3b3b3b-0000-1111-2222-333344445555", { mode: 0o600 });
    const repository = await repositoryWith({ "web.nomad.hcl": job("web") });
    const { nops, until } = await serve(
      "refused",
      `nomad:\n  address: ${nomad}\n  token_file: ${file}\nrepositories:\n  - {name: main, url: ${repository.dir}, poll_interval: 1s}\n`,
    );
    const { reasons } = await until<Ready>("/readyz", ({ reasons: each }) => each["repository main"]?.includes("parse") === true);
    expect(reasons).toMatchObject({
      nomad: expect.stringContaining("check the token and its policy; nops doctor names what is missing"),
      "repository main": expect.stringMatching(/^cannot parse the job file: .*; check the token and its policy/),
    });
    expect(nops.stderr()).not.toContain("3b3b3b3b");
    await writeFile(file, bootstrapped.SecretID, { mode: 0o600 });
    await until<Jobs>("/api/v1/jobs", inSync(1));
    await until<Ready>("/readyz", ({ ready }) => ready);
  });
});
