/** Rules of security that hold for source texts as such. Each says first that it would find what it looks for. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Path → text of the sources below a folder, tests left out. */
function sources(folder: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
    .map((name) => [`${folder}/${name}`, readFileSync(`${root}${folder}/${name}`, "utf8")]);
}

/** Ways to put foreign text into a page as anything but text, or as the target of a link. */
function foreignMarkup(text: string): string[] {
  return (
    text.match(
      /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\b(?:src|action)=\{|href=\{(?!to\})/g,
    ) ?? []
  );
}

/** What is put into the text of an SQL statement, apart from constants. */
function spliced(text: string): string[] {
  const constants = new Set(["activeList", "step.number", "applicationId"]);
  return [...text.matchAll(/`[^`]*\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|VACUUM|PRAGMA|user_version|application_id)\b[^`]*`/g)]
    .flatMap(([statement]) => [...statement.matchAll(/\$\{([^}]*)\}/g)].map(([, expression = ""]) => expression))
    .filter((expression) => !constants.has(expression));
}

describe("the dashboard shows foreign text as text only (S10, S15)", () => {
  it.each(["<b dangerouslySetInnerHTML={{ __html: text }} />", "node.innerHTML = text", "<a href={commit.url}>"])(
    "finds %s",
    (text) => {
      expect(foreignMarkup(text)).toHaveLength(1);
    },
  );

  it.each(sources("dashboard"))("%s", (_, text) => {
    expect(foreignMarkup(text)).toEqual([]);
  });
});

describe("values reach SQL as parameters only (S72)", () => {
  it("finds a spliced value", () => {
    expect(spliced("database.prepare(`SELECT id FROM jobs WHERE id = '${job}'`)")).toEqual(["job"]);
  });

  it.each(sources("store"))("%s", (_, text) => {
    expect(spliced(text)).toEqual([]);
  });
});

describe("secrets are compared in one place (S40)", () => {
  const comparing = ["model", "git", "store", "api", "cmd", "nomad"]
    .flatMap(sources)
    .filter(([, text]) => text.includes("timingSafeEqual"))
    .map(([path]) => path);

  it("model/equal-secretly.ts", () => {
    expect(comparing).toEqual(["model/equal-secretly.ts"]);
  });
});

describe("a simulated task reaches nothing outside the process", () => {
  /** Modules of Node that open files, sockets or processes. */
  const reaching = (text: string): string[] =>
    [
      ...text.matchAll(
        /(?:\bfrom |\bimport\(|\bimport |\brequire\()("(?:node:)?(?:fs|fs\/promises|child_process|worker_threads|cluster|net|http|https|http2|dgram|tls|dns|os|vm)")|\b(fetch)\(/g,
      ),
    ].map(([, module, call]) => module ?? call ?? "");

  it.each(['import { spawn } from "node:child_process";', 'await import("fs")', "await fetch(source)"])("finds %s", (text) => {
    expect(reaching(text)).toHaveLength(1);
  });

  // Serving HTTP is the simulator's face; whether a text is an address is asked of `node:net`, which opens nothing.
  const allowed = new Map([
    ["simulator/http/listen.ts", ['"node:http"', '"node:net"']],
    ["simulator/jobspec/validate-connect.ts", ['"node:net"']],
  ]);
  it.each(sources("simulator"))("%s", (path, text) => {
    expect(reaching(text)).toEqual(allowed.get(path) ?? []);
  });
});

describe("what is installed (S77)", () => {
  const lock = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8")) as {
    packages: Record<
      string,
      { version?: string; dev?: boolean; optional?: boolean; hasInstallScript?: boolean; integrity?: string }
    >;
  };
  const installed = Object.entries(lock.packages).filter(([path]) => path !== "");
  const own = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    dependencies: Record<string, string>;
    allowScripts: Record<string, boolean>;
  };

  it("is pinned by a hash, every package", () => {
    expect(installed.length).toBeGreaterThan(100);
    expect(installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
  });

  it("runs a script of its own only where that is written down", () => {
    const withScript = installed
      .filter(([, each]) => each.hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ""));
    expect(withScript.filter((name) => !(name in own.allowScripts))).toEqual([]);
  });

  it("is few: direct dependencies that run in production", () => {
    expect(Object.keys(own.dependencies).length).toBeLessThanOrEqual(20);
  });

  it.each([
    ["isomorphic-git", [1, 38, 7]],
    ["yaml", [2, 8, 3]],
  ])("%s is not older than its last known hole", (name, least) => {
    const version = (lock.packages[`node_modules/${name}`]?.version ?? "").split(".").map(Number);
    const firstDifference = least.findIndex((part, at) => part !== version[at]);
    expect(firstDifference === -1 || (version[firstDifference] ?? 0) > (least[firstDifference] ?? 0)).toBe(true);
  });
});
