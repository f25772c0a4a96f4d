import { defineConfig } from "vitest/config";

// End-to-end tests start real processes and, where there is one, a real Nomad. They mostly wait, so two files run side by side.
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["default", "./tools/plain-line-reporter.ts"],
  },
});
