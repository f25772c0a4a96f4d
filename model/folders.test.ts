import * as fs from "node:fs";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolders } from "./folders.ts";

it("makes what is missing, with the mode, and says whether it did", () => {
  const root = mkdtempSync(join(tmpdir(), "nops-folders-"));
  try {
    const folder = join(root, "a", "b", "c");
    expect([makeFolders(fs, folder, 0o700), makeFolders(fs, folder, 0o755)]).toEqual([true, false]);
    expect([join(root, "a"), folder].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

it.runIf(process.platform === "linux")("ends with an error below a folder that takes no children", () => {
  expect(() => makeFolders(fs, "/proc/nowhere/below", 0o700)).toThrow(/ENOENT|EACCES|EPERM/);
});
