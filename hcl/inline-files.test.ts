import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { evaluate } from "./evaluate.ts";
import { nomadFunctions } from "./functions/table.ts";
import { type InlineLimits, inlineFiles } from "./inline-files.ts";
import { type HclParser, loadHclParser } from "./parser.ts";
import { jsonText } from "./value-text.ts";

let parser: HclParser;
beforeAll(async () => {
  parser = await loadHclParser();
});

type Files = Readonly<Record<string, string | Uint8Array>>;

function inline(text: string, files: Files, path = "jobs/web/web.nomad", limits?: InlineLimits) {
  const commit = { read: (wanted: string) => files[wanted], list: () => Object.keys(files) };
  return inlineFiles(text, parser.parse(text, path).body, path, commit, limits);
}

/** Values of the attributes of a text, as JSON. */
function values(text: string): string[] {
  const { body, diagnostics } = parser.parse(text, "x.hcl");
  expect(diagnostics).toEqual([]);
  return body.attributes.map(({ expression }) => {
    const { value, diagnostics: problems } = evaluate(expression, { variables: new Map(), functions: nomadFunctions() });
    expect(problems).toEqual([]);
    return jsonText(value);
  });
}

describe("replacing calls", () => {
  const files: Files = {
    "jobs/web/app.conf": 'name = "${x}" %{if}\n\ttab \\ é\n',
    "shared/a.txt": "A",
    "jobs/web/conf/one.cfg": "1",
    "jobs/web/conf/two.cfg": "2",
    "jobs/web/conf/sub/three.cfg": "3",
    "jobs/web/logo.bin": Uint8Array.from([0xff, 0x00, 0x80]),
  };

  it("puts the text of the commit in place, line for line", () => {
    const text = [
      'a = file("app.conf")',
      'b = file("../../shared/a.txt")',
      "c = <<EOT",
      '${file("./app.conf")}-${upper(file("../../shared/a.txt"))}',
      "EOT",
      'd = filebase64("logo.bin")',
      'e = [fileexists("app.conf"), fileexists("none"), fileexists("conf")]',
      'f = fileset("conf", "*.cfg")',
      'g = fileset(".", "conf/**/*.{cfg,txt}")',
      'h = "${trimspace(file("app.conf"))}"',
      "",
    ].join("\n");
    const inlined = inline(text, files);
    expect(inlined.problems).toEqual([]);
    expect(inlined.text.split("\n")).toHaveLength(text.split("\n").length);
    const content = 'name = "${x}" %{if}\n\ttab \\ é\n';
    expect(values(inlined.text)).toEqual([
      JSON.stringify(content),
      '"A"',
      JSON.stringify(`${content}-A\n`),
      '"/wCA"',
      "[true,false,false]",
      '["one.cfg","two.cfg"]',
      '["conf/one.cfg","conf/sub/three.cfg","conf/two.cfg"]',
      JSON.stringify(content.trim()),
    ]);
    expect(inlined.files).toContain("shared/a.txt");
    expect(inlined.files).toContain("jobs/web/none");
  });

  it("leaves text without calls exactly as it is", () => {
    const text = '\ufeff# file("x")\na = "file(\\"x\\")"\r\n';
    expect(inline(text, {})).toEqual({ text, problems: [], files: [] });
  });

  it("counts places behind a byte order mark", () => {
    expect(inline('\ufeffa = file("f")\n', { "jobs/web/f": "x" }).text).toBe('\ufeffa = "x"\n');
  });
});

describe("refusals, with file and line", () => {
  it.each([
    ['a = 1\nb = file("none.txt")\n', 2, "there is no file jobs/web/none.txt in the commit"],
    ['a = file("/etc/passwd")\n', 1, "is no path relative to the job file"],
    ['a = file("~/x")\n', 1, "is no path relative to the job file"],
    ['a = file("C:\\\\x")\n', 1, "is no path relative to the job file"],
    ['a = file("../../../x")\n', 1, "leads out of the repository"],
    ['a = file("x/../../../../y")\n', 1, "leads out of the repository"],
    ['a = file("..\\\\..\\\\..\\\\x")\n', 1, "leads out of the repository"],
    ["a = file(var.x)\n", 1, "needs a literal path"],
    ['a = file("${var.x}.txt")\n', 1, "needs a literal path"],
    ['a = file("a", "b")\n', 1, "takes one argument"],
    ['a = fileset("a")\n', 1, "takes two arguments"],
    ['a = file("binary")\n', 1, "is no UTF-8 text; use filebase64()"],
    ['a = file("large")\n', 1, "jobs/web/large has 11 bytes, more than the 10"],
    ['a = file("some")\nb = file("some")\nc = file("some")\n', 3, "more than 20 bytes together"],
  ])("%j", (text, line, message) => {
    const files = { "jobs/web/binary": Uint8Array.from([0xff]), "jobs/web/large": "12345678901", "jobs/web/some": "12345678" };
    const { problems, text: result } = inline(text, files, "jobs/web/web.nomad", { fileBytes: 10, totalBytes: 20 });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ severity: "error", file: "jobs/web/web.nomad", line });
    expect(problems[0]?.message).toContain(message);
    expect(result.split("\n")[line - 1]).toBe(text.split("\n")[line - 1]);
  });
});

describe("escaping", () => {
  it("brings back exactly the text, whatever it is", () => {
    const nasty = fc.array(fc.constantFrom("$", "%", "{", "}", '"', "\\", "\n", "\r\n", "~", "EOT\n", "é", "\0", "\u2028", "x"), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          nasty.map((parts) => parts.join("")),
          fc.string({ unit: "grapheme" }),
        ),
        (content) => {
          const text = content.normalize("NFC");
          const { text: result, problems } = inline('a = file("f")\nb = "<${file("f")}>"\n', { "jobs/web/f": text });
          expect(problems).toEqual([]);
          expect(values(result)).toEqual([text, `<${text}>`].map((value) => jsonText({ kind: "string", value })));
        },
      ),
      { numRuns: 300 },
    );
  });
});
