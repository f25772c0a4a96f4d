import { defineConfig } from "vitest/config";

// Isolation costs 0.3 s a file; tests here leave no global state behind, so files share a worker.
export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", "dist/**", "e2e/**"],
    pool: "threads",
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", "./tools/plain-line-reporter.ts"],
  },
});
