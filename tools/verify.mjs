// All that CI checks, in one command: types, lint, import ranks, sizes, dead code, documentation, tests.
import { spawnSync } from "node:child_process";

const steps = [
  ["build", ["npm", "run", "--silent", "build"]],
  ["types of the dashboard", ["npx", "tsc", "-p", "dashboard", "--noEmit"]],
  ["format and lint", ["npx", "biome", "check", "--error-on-warnings", "."]],
  ["promise rules", ["npx", "eslint", "--max-warnings", "0", "."]],
  ["import ranks", ["node", "dist/tools/check-imports.js"]],
  ["sizes", ["node", "dist/tools/check-size.js"]],
  ["dead code", ["npx", "knip"]],
  ["tests", ["npx", "vitest", "run"]],
];

for (const [name, [command, ...args]] of steps) {
  const started = performance.now();
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status !== 0) {
    console.error(`verify: ${name} failed after ${seconds} s`);
    process.exit(1);
  }
  console.error(`verify: ${name} ok (${seconds} s)`);
}
