// Compiles everything into dist/: TypeScript by tsc, the HCL grammar copied, the dashboard by Vite.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** Runs a program of an installed package. Packages rarely export their program, so it is found beside their package.json. */
function run(packageName, program, args) {
  const script = join(dirname(require.resolve(`${packageName}/package.json`)), program);
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

console.error("building nops: half a minute the first time, less after that");
run("typescript", "bin/tsc", ["-p", "tsconfig.json"]);

mkdirSync("dist/hcl", { recursive: true });
copyFileSync(require.resolve("@tree-sitter-grammars/tree-sitter-hcl/tree-sitter-hcl.wasm"), "dist/hcl/tree-sitter-hcl.wasm");

if (existsSync("dashboard/vite.config.ts")) {
  run("vite", "bin/vite.js", ["build", "--config", "dashboard/vite.config.ts", "--logLevel", "warn"]);
}
if (existsSync("dist/cmd/nops.js")) chmodSync("dist/cmd/nops.js", 0o755);
