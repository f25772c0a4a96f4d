// All that CI checks, in one command: types, lint, import ranks, sizes, dead code, documentation, tests.
import { spawn } from "node:child_process";

const build = ["build", ["npm", "run", "--silent", "build"]];
const checks = [
  ["types of the dashboard", ["npx", "tsc", "-p", "dashboard", "--noEmit"]],
  ["format and lint", ["npx", "biome", "check", "--error-on-warnings", "."]],
  ["import ranks", ["node", "dist/tools/check-imports.js"]],
  ["sizes", ["node", "dist/tools/check-size.js"]],
  ["dead code", ["npx", "knip"]],
];
// Takes longer than all other checks together and needs nothing of theirs, so it runs beside them.
const promiseRules = ["promise rules", ["npx", "eslint", "--max-warnings", "0", "."]];
const tests = ["tests", ["npx", "vitest", "run"]];

const running = new Set();

async function run([name, [command, ...args]]) {
  const started = performance.now();
  const child = spawn(command, args, { stdio: "inherit" });
  running.add(child);
  const status = await new Promise((resolve, reject) => child.once("error", reject).once("exit", resolve));
  running.delete(child);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status !== 0) {
    console.error(`verify: ${name} failed after ${seconds} s`);
    for (const other of running) other.kill();
    process.exit(1);
  }
  console.error(`verify: ${name} ok (${seconds} s)`);
}

async function inTurn(steps) {
  for (const step of steps) await run(step);
}

await Promise.all([inTurn([build, ...checks]), run(promiseRules)]);
await run(tests);
