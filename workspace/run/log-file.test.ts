import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { openLog } from "./log-file.ts";

const output = { event: "step_output", address: "p/s", line: "\u001b[31mhello\u001b[0m" } as const;

it("keeps what a run prints, without colours, and a file for each sub-step of a group", () => {
  const root = tempFolder();
  const log = openLog(root, "deploy");
  log.sink(output);
  log.sink({ ...output, group: "both" });
  log.close();
  expect(readFileSync(join(root, log.file), "utf8")).toContain("hello\n");
  expect(readFileSync(join(root, ".nops/logs/parallel/deploy/both/p_s.log"), "utf8")).toBe("hello\n");
});

it.runIf(process.platform === "linux")("ends with an error where no folder can be made", () => {
  expect(() => openLog("/proc/nowhere", "deploy").sink(output)).toThrow(/ENOENT|EACCES|EPERM/);
});
