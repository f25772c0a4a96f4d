import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { hclJobFiles } from "./job-files.ts";

const job = `variable "tag" {}
variable "count" {
  type    = number
  default = 1
}
job "web" {
  group "web" {
    count = var.count
    task "web" {
      driver = "raw_exec"
      config { command = "/bin/\${var.tag}" }
      template { data = file("conf/app.conf") }
    }
  }
}
`;

function prepare(
  files: Readonly<Record<string, string>>,
  vars: Readonly<Record<string, unknown>> = {},
  varFiles: readonly string[] = [],
) {
  const root = tempFolder();
  for (const [file, text] of Object.entries({ "jobs/web.nomad.hcl": job, "jobs/conf/app.conf": "port = 80\n", ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return hclJobFiles.prepare({ root, file: "jobs/web.nomad.hcl", varFiles, vars });
}

describe("job files of a workspace", () => {
  it("get the text of file() and one list of values, the step's over those of files", async () => {
    const ready = await prepare({ "a.hcl": 'tag = "a"\ncount = 2\n' }, { tag: "sleep" }, ["a.hcl"]);
    expect(ready).toMatchObject({ format: "hcl2", variables: 'count = 2\ntag = "sleep"\n' });
    expect(ready.source).toContain("port = 80");
    expect(ready.source).not.toContain("file(");
    expect(ready.submission.source).toBe(job);
  });
  it("keep values that look secret out of what goes along with the register", async () => {
    const secret = job.replaceAll("tag", "password");
    const ready = await prepare({ "jobs/web.nomad.hcl": secret }, { password: "hunter2!" });
    expect(ready.variables).toContain("hunter2!");
    expect(ready.submission.variables).not.toContain("hunter2!");
  });
  it.each([
    ["a value that is missing", {}, {}, /jobs\/web\.nomad\.hcl:1: .*tag/],
    ["a value of the wrong type", {}, { tag: "x", count: "many" }, /count/],
    ["a file that is not there", { "jobs/web.nomad.hcl": job.replace("app.conf", "none.conf") }, { tag: "x" }, /none\.conf/],
    [
      "a file that leads out of the project",
      { "jobs/web.nomad.hcl": job.replace("conf/app.conf", "../../../etc/passwd") },
      { tag: "x" },
      /jobs\/web\.nomad\.hcl:12/,
    ],
    ["syntax that is none", { "jobs/web.nomad.hcl": 'job "x" {' }, {}, /jobs\/web\.nomad\.hcl:\d+/],
    ["no job at all", { "jobs/web.nomad.hcl": "a = 1\n" }, {}, /holds no job|jobs\/web\.nomad\.hcl/],
  ])("say where %s is", async (_, files, vars, expected) => {
    await expect(prepare(files, vars)).rejects.toThrow(expected);
  });
  it("may be in the form of the API", async () => {
    const ready = await prepare({ "jobs/web.nomad.hcl": '{"Job": {"ID": "web", "TaskGroups": [], "Version": 7}}' });
    expect(ready.format).toBe("json");
    expect(JSON.parse(ready.source)).toEqual({ ID: "web", TaskGroups: [] });
  });
});
