import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { folderContent } from "./folder-objects.ts";
import { gitLimits } from "./limits.ts";
import { TreeReader } from "./tree.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nops-folder-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("walks a folder as a commit would be walked: links reported and not followed, git's own folder passed over", async () => {
  mkdirSync(join(folder, "apps"));
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git/config"), "secret");
  writeFileSync(join(folder, "apps/web.nomad.hcl"), 'job "web" {}');
  symlinkSync("/etc/passwd", join(folder, "apps/link.nomad.hcl"));
  const { store, root } = folderContent(folder);
  const walked = await new TreeReader(store, root, gitLimits).walk("");
  expect(walked.files.map((file) => file.path)).toEqual(["apps/web.nomad.hcl"]);
  expect(walked.warnings.map((warning) => warning.file)).toEqual(["apps/link.nomad.hcl"]);
  const [file] = walked.files;
  expect((await store.read(file?.oid ?? "", "blob")).toString()).toBe('job "web" {}');
});

it("names an object it does not know", async () => {
  const { store } = folderContent(folder);
  await expect(store.read("0".repeat(40), "blob")).rejects.toThrow("has no object");
});
