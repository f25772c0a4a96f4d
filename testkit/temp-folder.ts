import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder (0700) that is removed when the test ends. Call it inside a test. */
export function tempFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "nops-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
