import { afterEach, describe, expect, it } from "vitest";
import { loadHclParser } from "../hcl/parser.ts";
import { createTempRepository, type TempFile } from "../testkit/temp-git.ts";
import { createJobFileReader, type JobFiles } from "./job-files.ts";
import type { JobRules } from "./job-rules.ts";
import { gitLimits } from "./limits.ts";
import { openObjectStore } from "./objects.ts";
import { TreeReader } from "./tree.ts";

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const noRules: JobRules = { path: "", files: [], ignore: [], varFiles: [], variables: {}, environment: {} };
const job = (name: string, inside = "") =>
  `job "${name}" {\n  ${inside}\n  group "g" {\n    task "t" {\n      driver = "exec"\n    }\n  }\n}\n`;

async function setUp(rules: Partial<JobRules> = {}) {
  const repository = await createTempRepository({ bare: true });
  cleanUps.push(repository.remove);
  const reader = createJobFileReader({ ...noRules, ...rules }, await loadHclParser(), gitLimits);
  let last: TreeReader | undefined;
  async function read(files: Readonly<Record<string, TempFile>>): Promise<JobFiles> {
    const sha = await repository.commit({ files });
    const store = openObjectStore(repository.gitdir, "the repository");
    last = new TreeReader(store, (await store.commit(sha)).tree, gitLimits, last);
    return reader.read(last, store, new AbortController().signal);
  }
  return { read };
}

const paths = ({ files }: JobFiles) => files.map(({ path }) => path);
const told = (issues: JobFiles["broken"]) =>
  issues.map(({ file, line, message }) => `${file}${line === undefined ? "" : `:${line}`} ${message}`);

describe("createJobFileReader", () => {
  it("knows jobs by content under any of the default endings (D27)", async () => {
    const { read } = await setUp();
    const found = await read({
      "a/web.nomad": job("web"),
      "a/api.nomad.hcl": job("api", 'id = "api-v2"'),
      "b.hcl": `variable "x" {\n  default = "1"\n}\n${job("b")}`,
      "c.job": job("c", "id = var.x"),
      "d.nomad.json": JSON.stringify({ ID: "d", TaskGroups: [] }),
      "e.json": JSON.stringify({ Job: { ID: "e", TaskGroups: [], CreateIndex: 7, Meta: { a: "b" } } }),
      "f.json": JSON.stringify({ job: { Name: "f", TaskGroups: [] } }),
      "volume.hcl": 'id = "v"\nname = "v"\ntype = "csi"\n',
      "policy.hcl": 'namespace "default" {\n  policy = "read"\n}\n',
      "main.tf": job("terraform"),
      "package.json": '{"name": "job"}',
      "list.json": "[1]",
      "README.md": job("readme"),
      "broken.hcl": "resource {",
      "broken.json": "{",
    });
    expect(found.files.map(({ path, jobName, format }) => `${path} ${jobName ?? "?"} ${format}`)).toEqual([
      "a/api.nomad.hcl api-v2 hcl2",
      "a/web.nomad web hcl2",
      "b.hcl b hcl2",
      "c.job ? hcl2",
      "d.nomad.json d json",
      "e.json e json",
      "f.json f json",
    ]);
    expect(found.broken).toEqual([]);
    expect(found.warnings).toEqual([]);
    expect(JSON.parse(found.files[5]?.source ?? "")).toEqual({ ID: "e", TaskGroups: [], Meta: { a: "b" } });
    expect(found.files[1]).toMatchObject({
      original: job("web"),
      source: job("web"),
      variables: "",
      publicVariables: "",
      issues: [],
    });
  });

  it("reports files that should be jobs but cannot be used, and goes on with the others (D11)", async () => {
    const { read } = await setUp();
    const found = await read({
      "good.hcl": job("good"),
      "half.nomad": 'job "half" {\n',
      "levant.nomad": job("x", 'region = "[[ .region ]]"'),
      "two.hcl": job("one") + job("two"),
      "bad.nomad.json": "{\n  nope",
      "pointer.nomad": "version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
      "data.json": "version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
      "latin.nomad": Buffer.from([0xff, 0xfe, 0x41]),
      "big.hcl": `${job("big")}${"# x\n".repeat(300_000)}`,
      "dump.json": `"${"x".repeat(1_100_000)}"`,
    });
    expect(paths(found)).toEqual(["good.hcl"]);
    const broken = told(found.broken).join("\n");
    expect(broken).toMatch(/^bad\.nomad\.json:2 is meant as a job in JSON, but is no valid JSON$/m);
    expect(broken).toMatch(/^big\.hcl passed over: it is larger than 1 MiB; make it smaller, or name it under ignore$/m);
    expect(broken).toMatch(/^half\.nomad:\d+ /m);
    expect(broken).toMatch(/^latin\.nomad is no UTF-8 text$/m);
    expect(broken).toMatch(/^levant\.nomad:2 .*Nomad Pack or Levant/m);
    expect(broken).toMatch(/^pointer\.nomad is a pointer of Git LFS/m);
    expect(broken).toMatch(/^two\.hcl:\d+ .*one job/m);
    expect(told(found.warnings)).toEqual([
      "data.json passed over: is a pointer of Git LFS, whose content git does not hold; commit the file itself",
      "dump.json passed over: it is larger than 1 MiB; make it smaller, or name it under ignore",
    ]);
  });

  it("takes patterns relative to the path, and ignores what is to be ignored", async () => {
    const { read } = await setUp({ path: "jobs", files: ["*.hcl", "sub/**"], ignore: ["old/", "sub/x.*"] });
    const files = {
      "jobs/a.hcl": job("a"),
      "jobs/b.nomad": job("b"),
      "jobs/sub/c": job("c"),
      "jobs/sub/x.hcl": job("x"),
      "jobs/old/a.hcl": job("o"),
      "a.hcl": job("d"),
    };
    expect(paths(await read(files))).toEqual(["jobs/a.hcl", "jobs/sub/c"]);
    const all = await setUp({ ignore: ["jobs/old", "**/b.*"] });
    expect(paths(await all.read(files))).toEqual(["a.hcl", "jobs/a.hcl", "jobs/sub/x.hcl"]);
  });

  const declares = (...names: readonly string[]) => names.map((name) => `variable "${name}" {}\n`).join("");

  it("merges variables in the order of D28", async () => {
    const { read } = await setUp({
      path: "jobs",
      varFiles: ["common.hcl", "vars/*.hcl", "shared/root.hcl"],
      variables: { e: "configured", count: 3 },
      environment: { NOMAD_VAR_d: "environment", NOMAD_VAR_e: "environment" },
    });
    const values = (text: string, names: string) => [...names].map((name) => `${name} = "${text}"\n`).join("");
    const found = await read({
      "jobs/web.nomad.hcl": `${declares("a", "b", "c", "d", "e", "db_password")}variable "z" {\n  default = 1\n}\nvariable "count" {\n  type = number\n}\n${job("web")}`,
      "jobs/common.hcl": values("common", "abcde"),
      "jobs/vars/1.hcl": values("one", "bcde"),
      "jobs/web.vars.hcl": `${values("own", "cde")}db_password = "canary"\n`,
      "shared/root.hcl": 'a = "root"\n',
    });
    expect(found.broken).toEqual([]);
    const [web] = found.files;
    expect(web?.variables).toBe(
      'a = "root"\nb = "one"\nc = "own"\ncount = 3\nd = "environment"\ndb_password = "canary"\ne = "configured"\n',
    );
    expect(web?.publicVariables).not.toContain("canary");
    expect(found.warnings).toEqual([]);
  });

  it("names missing, unknown and unread variables with file and line (D28)", async () => {
    const { read } = await setUp({ varFiles: ["all.hcl", "none.hcl"] });
    const found = await read({
      "a.hcl": `${declares("known", "missing")}${job("a")}`,
      "b.hcl": `${declares("known")}${job("b")}`,
      "b.vars.hcl": 'other = "1"\n',
      "c.vars.hcl": 'x = "1"\n',
      "all.hcl": '\nknown = "1"\nstray = "2"\n',
    });
    expect(paths(found)).toEqual(["b.hcl"]);
    expect(told(found.broken)).toEqual([
      'a.hcl:2 variable "missing" has no default, and no value is set for it; var_files, variables, or a .vars.hcl beside the file can',
    ]);
    expect(told(found.files[0]?.issues ?? []).join()).toContain('b.vars.hcl:1: a value is set for variable "other"');
    expect(told(found.warnings)).toEqual([
      "none.hcl var_files names it, but the commit has no such file",
      'all.hcl:3 sets variable "stray", which no job file declares',
      "c.vars.hcl no job file beside it takes these values",
    ]);
  });

  it("puts files of the commit in place, never those of the machine", async () => {
    const { read } = await setUp({ path: "jobs" });
    const files = {
      "jobs/a.hcl": job(
        "a",
        'meta = {\n    text = file("../conf/a.txt")\n    there = fileexists("none")\n    names = fileset("../conf", "*.txt")\n  }',
      ),
      "jobs/evil.hcl": job("evil", 'meta = {\n    x = file("/etc/passwd")\n  }'),
      "jobs/out.hcl": job("out", 'meta = {\n    x = file("../../../etc/passwd")\n  }'),
      "jobs/link.hcl": job("link", 'meta = {\n    x = file("passwd")\n  }'),
      "jobs/passwd": { mode: "120000" as const, content: "/etc/passwd" },
      "conf/a.txt": "hello",
    };
    const found = await read(files);
    expect(paths(found)).toEqual(["jobs/a.hcl"]);
    expect(found.files[0]?.source).toContain('text = "hello"');
    expect(found.files[0]?.source).toContain("there = false");
    expect(found.files[0]?.source).toContain('["a.txt"]');
    expect(found.files[0]?.original).toBe(files["jobs/a.hcl"]);
    expect(told(found.broken).map((text) => text.split(" ")[0])).toEqual([
      "jobs/evil.hcl:3",
      "jobs/link.hcl:3",
      "jobs/out.hcl:3",
    ]);
  });

  it("reads again only what changed, and hands out the same objects for the rest", async () => {
    const { read } = await setUp({ varFiles: ["all.vars.hcl"] });
    const first = await read({
      "a.hcl": job("a"),
      "b.hcl": job("b", 'meta = {\n    x = file("b.txt")\n  }'),
      "c.hcl": job("c", 'meta = {\n    x = fileset(".", "*.txt")\n  }'),
      "d.hcl": job("d", 'meta = {\n    x = fileexists("later")\n  }'),
      "e.hcl": `${declares("v")}${job("e")}`,
      "e.vars.hcl": 'v = "1"\n',
      "b.txt": "1",
      "all.vars.hcl": "",
      "other.json": "{}",
    });
    expect(first.readCount).toBe(8);
    const same = (later: JobFiles) => later.files.filter((file) => first.files.includes(file)).map(({ path }) => path);
    const second = await read({ "b.txt": "2" });
    expect([same(second), second.readCount]).toEqual([["a.hcl", "d.hcl", "e.hcl"], 2]);
    expect(second.files[1]?.contentHash).not.toBe(first.files[1]?.contentHash);
    const third = await read({ "b.txt": "1", later: "x", "e.vars.hcl": 'v = "2"\n' });
    expect(third.files.find(({ path }) => path === "d.hcl")?.source).toContain("x = true");
    expect(third.files.find(({ path }) => path === "e.hcl")?.variables).toBe('v = "2"\n');
    expect(third.files[1]?.contentHash).toBe(first.files[1]?.contentHash);
    const fourth = await read({ "unrelated.txt": "x" });
    expect(fourth.readCount).toBe(1);
    const fifth = await read({ "all.vars.hcl": 'v = "0"\n' });
    expect(fifth.files).toHaveLength(5);
    expect(fifth.readCount).toBeGreaterThanOrEqual(5);
  });

  it("reads k files of 10,000 for a commit that changes k (S47)", { timeout: 120_000 }, async () => {
    const { read } = await setUp();
    const files: Record<string, string> = {};
    for (let at = 0; at < 10_000; at++) files[`d${at % 100}/f${at}.hcl`] = at % 100 === 0 ? job(`j${at}`) : 'path "x" {}\n';
    const begun = performance.now();
    const first = await read(files);
    const firstMs = performance.now() - begun;
    expect([first.readCount, first.files.length]).toEqual([10_000, 100]);
    const changed = Object.fromEntries([0, 1, 100, 250, 777].map((at) => [`d${at % 100}/f${at}.hcl`, job(`new${at}`)]));
    const before = performance.now();
    const second = await read(changed);
    expect([second.readCount, second.files.length]).toEqual([5, 103]);
    expect(second.files.filter((file) => first.files.includes(file))).toHaveLength(98);
    expect(performance.now() - before).toBeLessThan(firstMs / 4);
  });

  it("forgets what is gone", async () => {
    const { read } = await setUp();
    await read({ "a.hcl": job("a"), "b.hcl": job("b") });
    expect(paths(await read({ "a.hcl": null }))).toEqual(["b.hcl"]);
    expect(paths(await read({ "b.hcl": null, x: "" }))).toEqual([]);
  });

  it("stops when it is aborted", async () => {
    const repository = await createTempRepository({ bare: true });
    cleanUps.push(repository.remove);
    const store = openObjectStore(repository.gitdir, "the repository");
    const tree = (await store.commit(await repository.commit({ files: { "a.hcl": job("a") } }))).tree;
    const reader = createJobFileReader(noRules, await loadHclParser(), gitLimits);
    await expect(reader.read(new TreeReader(store, tree, gitLimits), store, AbortSignal.abort())).rejects.toThrow();
  });
});
