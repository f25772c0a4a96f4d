import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { createJournalStore, dropService } from "./journal.ts";
import { emptyJournal, type Journal } from "./types.ts";

const execFileAsync = promisify(execFile);
const step = { status: "ok", finished_at: "2026-02-03T10:00:30Z", action_hash: "b0f2", duration_ms: 8120 } as const;

function full(): Journal {
  return {
    schema_version: "1",
    project: {
      status: "failed",
      config_hash: "9c1e",
      config_inputs: { "vars.x": "aa" },
      last_run: { status: "failed", started_at: "2026-02-03T10:00:00Z", finished_at: "2026-02-03T10:00:41Z" },
      phases: { verify: { status: "failed", steps: { smoke: { ...step, status: "failed", tolerated: true } } } },
    },
    services: {
      api: {
        status: "deployed",
        deployed_at: "2026-02-03T10:00:30Z",
        config_hash: "41d0",
        last_run: { status: "ok", started_at: "a", finished_at: "b" },
        phases: { release: { status: "ok", steps: { register: { ...step, inputs: { cmd: "cc" } } } } },
      },
    },
    pending: {
      created_at: "2026-02-03T11:00:00Z",
      config_hash: "9c1e",
      operations: [{ kind: "deploy", services: ["mailer"] }, { kind: "restart" }],
    },
  };
}

const store = (root = tempFolder()) => createJournalStore(join(root, ".nops/deploy/state.yml"));

describe("journal file", () => {
  it("case 1: no file is an empty journal", () => {
    expect(store().load()).toEqual({ schema_version: "1", project: { status: "not_deployed", phases: {} }, services: {} });
  });
  it("case 2: what is saved is loaded again", () => {
    const journal = store();
    journal.save(full());
    expect(journal.load()).toEqual(full());
  });
  it("case 3: unknown keys are passed over", () => {
    const journal = store();
    journal.save(full());
    writeFileSync(journal.path, `${readFileSync(journal.path, "utf8")}future: {a: 1}\n`);
    expect(journal.load()).toEqual(full());
  });
  it("case 3: unknown keys inside records are passed over, too", () => {
    const journal = store();
    mkdirSync(dirname(journal.path), { recursive: true });
    writeFileSync(journal.path, "project: {status: deployed, color: red}\nservices: {a: {status: what, phases: 7}}\n");
    const loaded = journal.load();
    expect(loaded.project).toEqual({ status: "deployed", phases: {} });
    expect(loaded.services.a).toEqual({ status: "not_deployed", phases: {} });
  });
  it.each([
    ["a: 1\nb: [", "Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 5"],
    ["just text", "not a mapping"],
    ["- list", "not a mapping"],
  ])("case 4: %j is refused, with file and place, and stays", (text, problem) => {
    const journal = store();
    mkdirSync(dirname(journal.path), { recursive: true });
    writeFileSync(journal.path, text);
    const message = `failed to parse state file .nops/deploy/state.yml: ${problem}`;
    expect(() => journal.load()).toThrow(message);
    expect(() => journal.mutate(() => true)).toThrow(message);
    expect(readFileSync(journal.path, "utf8")).toBe(text);
  });
  it("case 5: folder 0755, file 0644, whatever the umask", () => {
    const journal = store();
    journal.save(full());
    expect(statSync(journal.path).mode & 0o777).toBe(0o644);
    expect(statSync(dirname(journal.path)).mode & 0o777).toBe(0o755);
  });
  it("case 6: nothing cannot be saved", () => {
    const journal = store();
    expect(() => journal.save(null as unknown as Journal)).toThrow("no journal");
    expect(existsSync(journal.path)).toBe(false);
  });
  it("case 7: removing is no error without a file", () => {
    const journal = store();
    expect(journal.remove()).toBe(false);
    journal.save(full());
    expect(journal.remove()).toBe(true);
    expect(existsSync(journal.path)).toBe(false);
  });
  it("case 8: removing a service keeps the other and recomputes the project", () => {
    const journal = full();
    journal.services.b = { status: "failed", phases: {} };
    delete journal.pending;
    expect(dropService(journal, "b", undefined)).toBe(false);
    expect(journal.services.api).toEqual(full().services.api);
    expect(journal.project.status).toBe("deployed");
  });
  it("case 9: the last service takes the file with it, unless the project has phases", () => {
    const alone = emptyJournal();
    alone.services.api = { status: "deployed", phases: {} };
    expect(dropService(alone, "api", undefined)).toBe(true);
    const withPhases = full();
    delete withPhases.pending;
    expect(dropService(withPhases, "api", undefined)).toBe(false);
  });
  it("leaves no temporary file, after a failure either", () => {
    const journal = store();
    journal.save(full());
    mkdirSync(join(dirname(journal.path), "blocked"));
    const blocked = createJournalStore(join(dirname(journal.path), "blocked"));
    expect(() => blocked.save(full())).toThrow();
    expect(readdirSync(dirname(journal.path)).sort()).toEqual(["blocked", "state.yml"]);
  });
  it("case 10: a reader never sees a torn file while another process writes", async () => {
    const journal = store();
    const one = full();
    const other = full();
    other.project.config_hash = "f".repeat(4_000);
    journal.save(one);
    // The reader is a process of its own, so that it looks at any instant.
    const script =
      'const fs=require("fs");let n=0;for(const end=Date.now()+60000;Date.now()<end&&!fs.existsSync(process.argv[2]);n++){const t=fs.readFileSync(process.argv[1],"utf8");if(!t.startsWith("schema_version")||!t.endsWith("}\\n")){console.log("torn");process.exit(1)}}console.log(n)';
    const done = join(dirname(journal.path), "done");
    const reader = execFileAsync(process.execPath, ["-e", script, journal.path, done]);
    for (let write = 0; write < 1_000; write++) {
      journal.save(write % 2 === 0 ? other : one);
      if (write % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    writeFileSync(done, "");
    expect(Number((await reader).stdout)).toBeGreaterThan(0);
    expect(journal.load()).toEqual(one);
  }, 60_000);
  it("sets unreadable content aside", () => {
    const journal = store();
    mkdirSync(dirname(journal.path), { recursive: true });
    writeFileSync(journal.path, "a: [");
    const name = journal.setAside(Date.UTC(2027, 0, 1));
    expect(name).toBe("state.yml.corrupt-2027-01-01T00-00-00-000Z");
    expect(readFileSync(join(dirname(journal.path), name), "utf8")).toBe("a: [");
    expect(journal.exists()).toBe(false);
  });
  it("keeps a service called __proto__ or constructor a service", () => {
    const journal = store();
    mkdirSync(dirname(journal.path), { recursive: true });
    writeFileSync(journal.path, "services: {constructor: {status: deployed, phases: {toString: {steps: {}}}}}\n");
    expect(journal.load().services.constructor).toEqual({ status: "deployed", phases: { toString: { steps: {} } } });
  });
});

it.runIf(process.platform === "linux")("case 5: saying it cannot be written ends, also where no folder can be made", () => {
  expect(() => store("/proc/nowhere").save(emptyJournal())).toThrow(/ENOENT|EACCES|EPERM/);
});
