import { defineConfig } from "vitest/config";

// End-to-end tests start real processes and, where there is one, a real Nomad: one file after another, with patience.
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["default", "./tools/plain-line-reporter.ts"],
  },
});
