import { beforeAll, describe, expect, it } from "vitest";
import { classifyFile, metaLine } from "./job-file.ts";
import { type HclParser, loadHclParser } from "./parser.ts";

let parser: HclParser;
beforeAll(async () => {
  parser = await loadHclParser();
});

const JOB = `variable "tag" {
  type    = string
  default = "1"
}
variables {
  replicas = 2
}
job "web" {
  meta {
    nops_policy = "approval"
    team        = var.tag
  }
  group "g" {
    count = var.replicas + var["tag"]
  }
}
`;

describe("a job file", () => {
  it("tells the job, its meta with lines, its variables and where they are used", () => {
    const found = classifyFile(JOB, "jobs/web.nomad.hcl", parser);
    if (found.kind !== "job") throw new Error(found.kind);
    const { outline } = found;
    expect([outline.name, outline.nameRange.start.line, outline.format]).toEqual(["web", 8, "hcl"]);
    expect(outline.meta.map(({ name, value, range }) => [name, value, range.start.line])).toEqual([
      ["nops_policy", "approval", 10],
      ["team", undefined, 11],
    ]);
    expect([metaLine(outline, "team"), metaLine(outline, "absent")]).toEqual([11, 9]);
    expect(
      outline.variables.map(({ name, type, hasDefault, range }) => [name, type?.kind, hasDefault, range.start.line]),
    ).toEqual([
      ["tag", "string", true, 1],
      ["replicas", "number", true, 6],
    ]);
    expect(outline.used.map(({ name }) => name).sort()).toEqual(["replicas", "tag", "tag"]);
  });

  it("reads meta in the form of an object, and names the job's line without any meta", () => {
    const found = classifyFile('job "a" {\n  meta = {\n    "x.y" = "1"\n    z = "2"\n  }\n}\n', "a.nomad", parser);
    const none = classifyFile('\njob "a" {\n}\n', "a.nomad", parser);
    if (found.kind !== "job" || none.kind !== "job") throw new Error("no job");
    expect(found.outline.meta.map(({ name, value, range }) => [name, value, range.start.line])).toEqual([
      ["x.y", "1", 3],
      ["z", "2", 4],
    ]);
    expect(metaLine(none.outline, "x")).toBe(2);
  });

  it("is known in JSON", () => {
    const text =
      '{\n  "variable": {"n": {"default": 1}},\n  "job": {\n    "web": {\n      "meta": {"k": "v"},\n      "group": {"g": {"count": "${var.n}"}}\n    }\n  }\n}\n';
    const found = classifyFile(text, "web.nomad.json", parser);
    if (found.kind !== "job") throw new Error(found.kind);
    expect([found.outline.format, found.outline.name, metaLine(found.outline, "k")]).toEqual(["hcl_json", "web", 5]);
    expect(found.outline.variables.map(({ name }) => name)).toEqual(["n"]);
    expect(found.outline.used.map(({ name }) => name)).toEqual(["n"]);
  });
});

describe("other files", () => {
  it.each([
    ["a volume", 'id = "data"\ntype = "csi"\n', "volume.hcl"],
    ["a policy that speaks of jobs", 'namespace "default" {\n  capabilities = ["submit-job"]\n}\n', "policy.hcl"],
    ["values of variables", 'job_count = 3\nimage = "x"\n', "prod.vars.hcl"],
    ["Terraform", 'resource "nomad_job" "web" {\n  jobspec = file("${path.module}/web.nomad")\n}\n', "main.hcl"],
    ["Terraform that is broken", 'resource "nomad_job" "job" {\n  a = \n', "main.hcl"],
    ["the API form", '{"Job": {"ID": "web", "Name": "web", "TaskGroups": []}}', "web.json"],
    ["the bare API form", '{"ID": "web", "Name": "job"}', "web.json"],
    ["the API form in lower case", '{"job": {"ID": "web", "Meta": {"a": "b"}}}', "web.json"],
    ["other JSON", '{"job": 5, "x": [1]}', "package.json"],
    ["broken JSON", '{"jo', "x.json"],
    ["an empty file", "", "x.nomad.hcl"],
    ["text", "All about the job of this folder\n", "readme.hcl"],
  ])("%s is passed over", (_, text, path) => {
    expect(classifyFile(text, path, parser)).toEqual({ kind: "other" });
  });

  it.each([
    ["Nomad Pack or Levant", "job [[ .name | quote ]] {\n}\n", 1],
    ["Nomad Pack or Levant", 'job "web" {\n  group "g" {\n    count = [[ var "n" . ]]\n  }\n}\n', 3],
    ["Nomad Pack or Levant", 'job "web" {\n  datacenters = ["[[ .dc ]]"]\n}\n', 2],
    ["Nomad Pack or Levant", 'job "web" {\n  datacenters = ["[[$dc]]"]\n}\n', 2],
    ["Nomad Pack or Levant", 'job "web" {\n  datacenters = ["[[ $site.dc ]]"]\n}\n', 2],
    ["Nomad Pack or Levant", 'job "web" {\n  datacenters = ["[[ $dc := .dc ]][[ $dc | lower ]]"]\n}\n', 2],
    ["Go template", 'job "web" {\n  group "g" {\n    count = {{ .Values.count }}\n  }\n}\n', 3],
    ["Jinja", 'job "web" {\n  {% if x %}\n  priority = 1\n  {% endif %}\n}\n', 2],
    ["ERB", 'job "web" {\n  priority = <%= 1 %>\n}\n', 2],
    ["Terraform", 'job "web" {\n  group "g" {\n    count = ${count}\n  }\n}\n', 3],
    ["HCL1", 'job "web" {\n  meta {\n    "owner" = "x"\n  }\n}\n', 3],
  ])("written for %s is named, with the line", (tool, text, line) => {
    const found = classifyFile(text, "web.nomad", parser);
    if (found.kind !== "foreign") throw new Error(found.kind);
    expect([found.tool, found.problem.line, found.problem.file]).toEqual([tool, line, "web.nomad"]);
    expect(found.problem.message).toMatch(/render it|HCL2/);
  });

  it.each([
    [
      "a template of the task itself",
      'job "web" {\n  group "g" {\n    task "t" {\n      template {\n        data = <<EOT\n{{ range services }}[[ -f x ]] {% x %}{{ end }}\nEOT\n      }\n    }\n  }\n}\n',
    ],
    [
      "a test of bash",
      'job "web" {\n  meta {\n    a = "[[ $FREE -lt $1 ]] && [[ $1 ]] && [[ ! $a == b.c ]] || [[ $a || $b ]]"\n  }\n}\n',
    ],
    [
      "a template that has brackets for its delimiters",
      'job "web" {\n  group "g" {\n    task "t" {\n      template {\n        left_delimiter = "[["\n        right_delimiter = "]]"\n        data = "[[ env `TOKEN` ]] [[.x]]"\n      }\n    }\n  }\n}\n',
    ],
    ["a character class", 'job "web" {\n  constraint {\n    value = "[[:digit:]]+"\n  }\n}\n'],
    ["a tuple in a tuple", 'job "web" {\n  meta {\n    a = jsonencode([[1], ["{{ x }}"]])\n  }\n}\n'],
    ["quoted keys in an object", 'job "web" {\n  meta = {\n    "a.b" = "1"\n  }\n}\n'],
  ])("with %s is a job like any other", (_, text) => {
    expect(classifyFile(text, "web.nomad", parser).kind).toBe("job");
  });
});

describe("broken job files", () => {
  it.each([
    ["a.nomad", 'job "web" {\n  group "g" {\n', "a.nomad:2: Unclosed configuration block", ["web"]],
    ["a.hcl", 'job "web" {\n  type = \n}\n', "a.hcl:2: Invalid expression", ["web"]],
    ["a.nomad", "jbo {\n", "a.nomad:1: Unclosed configuration block", []],
    ["a.nomad", "job {\n}\n", "Missing name for job", []],
    ["a.nomad", 'job "a" "b" {\n}\n', "Extraneous label for job", ["a"]],
    ["a.nomad", 'job "a" {\n}\nresource "x" {\n}\n', 'Blocks of type "resource" are not expected here', ["a"]],
    ["a.nomad", 'x = 1\njob "a" {\n}\n', 'An argument named "x" is not expected here', ["a"]],
    ["a.nomad", 'job "a" { group "g" {} }\n', "Argument definition required", ["a"]],
  ])("%s: %j", (path, text, message, jobNames) => {
    const found = classifyFile(text, path, parser);
    if (found.kind !== "broken") throw new Error(found.kind);
    const [problem] = found.problems;
    expect(`${problem?.file}:${problem?.line}: ${problem?.message}`).toContain(message);
    expect(problem?.message).not.toMatch(/^\S+:\d/);
    expect(problem?.file).toBe(path);
    expect(problem?.line).toBeGreaterThan(0);
    expect(found.jobNames).toEqual(jobNames);
  });

  it("with several jobs name all of them and both places", () => {
    const found = classifyFile('job "a" {\n}\njob "b" {\n}\n', "two.nomad", parser);
    if (found.kind !== "several") throw new Error(found.kind);
    expect(found.jobNames).toEqual(["a", "b"]);
    expect(found.problems).toEqual([
      {
        severity: "error",
        file: "two.nomad",
        line: 3,
        message: "a file may hold one job, this one holds 2 (a, b); the first is at two.nomad:1",
      },
    ]);
  });
});
