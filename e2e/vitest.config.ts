import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first, so that no worker is left alone with one of them at the end. */
const longest = [
  "process-kill",
  "differential",
  "workspace",
  "workspace-crash",
  "call-counts",
  "readme",
  "lifecycle",
  "commands",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(basename(moduleId, ".e2e.ts"));
      return at < 0 ? longest.length : at;
    };
    return [...files].sort((a, b) => rank(a) - rank(b));
  }
}

// End-to-end tests start real processes and, where there is one, a real Nomad. They mostly wait, so two files run side by side.
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["default", "./tools/plain-line-reporter.ts"],
  },
});
