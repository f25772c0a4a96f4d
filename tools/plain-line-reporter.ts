import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Ends a run with `N passed, N failed, N skipped` on a line of its own. Errors outside of tests (imports, hooks,
 * unhandled rejections) count as failures: a file that cannot be loaded must never look like a pass.
 */
export default class PlainLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === "passed" || state === "failed" ? state : "skipped"] += 1;
      }
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}
