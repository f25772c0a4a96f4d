import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { createTempRepository, rawTree, type TempRepository } from "../testkit/temp-git.ts";
import { nameProblem } from "./entry-name.ts";
import { gitLimits } from "./limits.ts";
import { type ObjectStore, openObjectStore } from "./objects.ts";
import { parseTree, resolveInRepository, TreeReader } from "./tree.ts";

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function repository(): Promise<TempRepository> {
  const made = await createTempRepository({ bare: true });
  cleanUps.push(made.remove);
  return made;
}

async function open(made: TempRepository, sha: string, limits = gitLimits, previous?: TreeReader): Promise<TreeReader> {
  const store = openObjectStore(made.gitdir, "the repository");
  return new TreeReader(store, (await store.commit(sha)).tree, limits, previous);
}

describe("TreeReader", () => {
  it("lists plain files in the order of their paths and warns of all else (S41)", async () => {
    const made = await repository();
    const sha = await made.commit({
      files: {
        "jobs/b.hcl": "b",
        "jobs/a/x.hcl": "x",
        "jobs/a-b.hcl": "y",
        "jobs/run.sh": { mode: "100755", content: "z" },
        "jobs/secret.hcl": { mode: "120000", content: "/etc/passwd" },
        "jobs/up": { mode: "120000", content: "../../nops.db" },
        "jobs/module": { mode: "160000", oid: "1".repeat(40) },
        "other.hcl": "o",
      },
    });
    const { files, warnings } = await (await open(made, sha)).walk("jobs");
    expect(files.map(({ path }) => path)).toEqual(["jobs/a-b.hcl", "jobs/a/x.hcl", "jobs/b.hcl", "jobs/run.sh"]);
    expect(warnings.map(({ file, message }) => `${file} ${message.split(";")[0] ?? ""}`)).toEqual([
      "jobs/module passed over: it is a submodule",
      "jobs/secret.hcl passed over: it is a symlink, and nops follows none",
      "jobs/up passed over: it is a symlink, and nops follows none",
    ]);
    expect((await (await open(made, sha)).walk("")).files).toHaveLength(5);
  });

  it("does not find anything behind a symlink or submodule", async () => {
    const made = await repository();
    const sha = await made.commit({
      files: { "real/a": "1", link: { mode: "120000", content: "real" }, sub: { mode: "160000", oid: "1".repeat(40) } },
    });
    const tree = await open(made, sha);
    expect((await tree.find("real/a"))?.kind).toBe("file");
    expect((await tree.find("link"))?.kind).toBe("symlink");
    for (const path of ["link/a", "sub/a", "real/a/b", "none", "real/none"]) expect(await tree.find(path)).toBeUndefined();
  });

  it("skips crafted entries with a warning and reads the rest (S42)", async () => {
    const made = await repository();
    const oid = await made.writeObject("blob", "job");
    const names = [
      "..",
      ".git",
      "a.hcl",
      ".GIT",
      "git~1",
      "x\\y.hcl",
      ".git::$INDEX_ALLOCATION",
      ".g\u200cit",
      "a/b.hcl",
      "line\nbreak",
      "esc\u001b[2J",
      ".git. ",
      "\u202egnp.hcl",
    ];
    const entries = names.map((name) => ({ mode: "100644", name, oid }));
    entries.push(
      { mode: "100644", name: "a.hcl", oid },
      { mode: "100755", name: "b.hcl", oid },
      { mode: "777", name: "odd", oid },
    );
    const invalid = { mode: "100644", name: Buffer.from([0x61, 0xff, 0x62]), oid };
    const tree = await made.writeObject("tree", rawTree([...entries, invalid, { mode: "40000", name: ".git", oid }]));
    const { files, warnings } = await (await open(made, await made.commit({ tree }))).walk("");
    expect(files.map(({ path }) => path)).toEqual(["a.hcl", "b.hcl"]);
    expect(warnings).toHaveLength(names.length + 3);
    for (const { message, file } of warnings) {
      expect(message).toMatch(/^passed over: its? /);
      expect(file).toMatch(/^[\x20-\x7e\ufffd\u200c]*$/);
    }
  });

  it.each([
    ["gone", 'the configured path "gone" does not exist in the commit'],
    ["a", 'the configured path "a" is a file, not a folder in the commit'],
    ["link", 'the configured path "link" is a symlink, not a folder in the commit'],
  ])(
    "fails for the configured path %s: nothing there must never look like a removal of all jobs (S48)",
    async (path, message) => {
      const made = await repository();
      const sha = await made.commit({ files: { a: "1", link: { mode: "120000", content: "jobs" } } });
      await expect((await open(made, sha)).walk(path)).rejects.toMatchObject({ kind: "path_missing", message });
    },
  );

  it("gives an empty list for an empty commit", async () => {
    const made = await repository();
    const sha = await made.commit({ tree: await made.writeObject("tree", "") });
    expect(await (await open(made, sha)).walk("")).toEqual({ files: [], warnings: [] });
  });

  it("stops at a tree that unfolds to millions of files", async () => {
    const made = await repository();
    const oid = await made.writeObject("blob", "x");
    let tree = await made.writeObject(
      "tree",
      rawTree(Array.from({ length: 10 }, (_, at) => ({ mode: "100644", name: `f${at}`, oid }))),
    );
    for (let level = 0; level < 9; level++) {
      tree = await made.writeObject(
        "tree",
        rawTree(Array.from({ length: 10 }, (_, at) => ({ mode: "40000", name: `d${at}`, oid: tree }))),
      );
    }
    await expect((await open(made, await made.commit({ tree }), { ...gitLimits, files: 5_000 })).walk("")).rejects.toMatchObject({
      kind: "too_large",
    });
  });

  it("stops at empty folders that unfold without end", async () => {
    const made = await repository();
    let tree = await made.writeObject("tree", "");
    for (let level = 0; level < 12; level++) {
      tree = await made.writeObject(
        "tree",
        rawTree(Array.from({ length: 10 }, (_, at) => ({ mode: "40000", name: `d${at}`, oid: tree }))),
      );
    }
    await expect((await open(made, await made.commit({ tree }), { ...gitLimits, files: 5_000 })).walk("")).rejects.toMatchObject({
      kind: "too_large",
    });
  });

  it("passes over folders that are nested too deep", async () => {
    const made = await repository();
    const sha = await made.commit({ files: { [`${"d/".repeat(70)}a`]: "1", "top.hcl": "2" } });
    const { files, warnings } = await (await open(made, sha)).walk("");
    expect(files.map(({ path }) => path)).toEqual(["top.hcl"]);
    expect(warnings[0]?.message).toContain("deeper than 64");
  });

  it("bounds the warnings", async () => {
    const made = await repository();
    const links = Object.fromEntries(
      Array.from({ length: 150 }, (_, at) => [`l${at}`, { mode: "120000" as const, content: "x" }]),
    );
    const { warnings } = await (await open(made, await made.commit({ files: links }))).walk("");
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)?.message).toBe("50 more entries were passed over");
  });

  it("fails for a missing or broken tree", async () => {
    const made = await repository();
    const sha = await made.commit({ tree: "2".repeat(40) });
    await expect((await open(made, sha)).walk("")).rejects.toMatchObject({
      kind: "damaged",
      message: expect.stringContaining("it is missing"),
    });
    const broken = await made.commit({ tree: await made.writeObject("tree", "100644 cut") });
    await expect((await open(made, broken)).walk("")).rejects.toMatchObject({ kind: "damaged" });
    const blob = await made.commit({ tree: await made.writeObject("blob", "x") });
    await expect((await open(made, blob)).walk("")).rejects.toMatchObject({
      kind: "damaged",
      message: expect.stringContaining("it is a blob, not a tree"),
    });
  });

  it("reads only the folders that changed", async () => {
    const made = await repository();
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`d${at}/a.hcl`, `${at}`]));
    const first = await open(made, await made.commit({ files }));
    await first.walk("");
    const sha = await made.commit({ files: { "d3/a.hcl": "new" } });
    const store = openObjectStore(made.gitdir, "the repository");
    const read: string[] = [];
    const counting: ObjectStore = {
      ...store,
      read(oid, type) {
        read.push(oid);
        return store.read(oid, type);
      },
    };
    const second = new TreeReader(counting, (await store.commit(sha)).tree, gitLimits, first);
    expect((await second.walk("")).files).toHaveLength(20);
    expect(read).toHaveLength(2);
  });
});

describe("parseTree", () => {
  it("throws nothing but a RangeError, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        try {
          parseTree(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

describe("nameProblem", () => {
  it.each([".gitignore", ".github", "git", "a b.hcl", "ü.hcl", "...x", ".nomad", "git~x", "日本.hcl", "a:b.hcl", "x.git"])(
    "trusts %s",
    (name) => {
      expect(nameProblem(name)).toBeUndefined();
    },
  );

  it.each([
    "",
    ".",
    "..",
    ".git",
    ".Git",
    "GIT~1",
    ".git~2",
    ".git ",
    ".git...",
    "...",
    ". .",
    ".git:x",
    ".gi\u200dt",
    "a\\b",
    "a/b",
    "a\0b",
    "a\tb",
    "\u2066x",
  ])("distrusts %j", (name) => {
    expect(nameProblem(name)).toBeDefined();
  });
});

describe("resolveInRepository", () => {
  it.each([
    ["", "", ""],
    ["", ".", ""],
    ["", "jobs/", "jobs"],
    ["jobs", "../vars/a", "vars/a"],
    ["jobs/x", "./a//b", "jobs/x/a/b"],
    ["jobs", "..", ""],
    ["jobs", "../..", undefined],
    ["", "../x", undefined],
    ["", "/etc/passwd", undefined],
    ["", "a\\b", undefined],
    ["", "a\0b", undefined],
  ])("%j with %j is %j", (folder, path, expected) => {
    expect(resolveInRepository(folder, path)).toBe(expected);
  });
});
