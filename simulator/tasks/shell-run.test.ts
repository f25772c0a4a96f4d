import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runScript } from "./shell-run.ts";

const run = (text: string, env: Record<string, string> = {}, unknownRuns = false) => runScript(text, env, unknownRuns);

describe("runScript", () => {
  it.each([
    ["exit 3", 3, 0, ""],
    ["true", 0, 0, ""],
    ["false", 1, 0, ""],
    ["sleep 2", 0, 2000, ""],
    ["sleep 0.5; exit 7", 7, 500, ""],
    ["sleep 1m", 0, 60_000, ""],
    ["echo hello", 0, 0, "hello\n"],
    ["echo -n a; echo b", 0, 0, "ab\n"],
    ["echo a && false && echo b", 1, 0, "a\n"],
    ["false || echo b", 0, 0, "b\n"],
    ["false; echo $?", 0, 0, "1\n"],
    ["set -e; false; echo never", 1, 0, ""],
    ["if true; then echo yes; else echo no; fi", 0, 0, "yes\n"],
    ["if false; then echo yes; else echo no; fi", 0, 0, "no\n"],
    ["for x in a b c; do echo $x; done", 0, 0, "a\nb\nc\n"],
    ["X=5; echo \"v=$X\" '$X'", 0, 0, "v=5 $X\n"],
    ["! true", 1, 0, ""],
    ["(exit 4); echo $?", 0, 0, "4\n"],
    ["sh -c 'exit 9'", 9, 0, ""],
    ["echo a > /dev/null; echo b", 0, 0, "b\n"],
    ["nothing-known --flag", 0, 0, ""],
  ])("%s", (text, code, tookMs, stdout) => {
    const result = run(text);
    expect({ code: result.code, tookMs: result.tookMs, stdout: result.stdout }).toEqual({ code, tookMs, stdout });
  });

  it("reads variables from the environment of the task", () => {
    expect(run("echo $NOMAD_ALLOC_INDEX; exit ${CODE}", { NOMAD_ALLOC_INDEX: "2", CODE: "6" })).toMatchObject({
      stdout: "2\n",
      code: 6,
    });
  });

  it.each(["while true; do sleep 1; done", "while :; do echo x; sleep 5; done", "sleep infinity", "tail -f /dev/null"])(
    "%s never ends",
    (text) => {
      expect(run(text).tookMs).toBeUndefined();
    },
  );

  it("lets an unknown program run for ever only where that is its job", () => {
    expect(run("exec my-server --port 80", {}, true).tookMs).toBeUndefined();
    expect(run("exec my-server --port 80", {}, false).tookMs).toBeDefined();
  });

  it("tells what goes to stderr apart", () => {
    expect(run("echo out; echo err >&2")).toMatchObject({ stdout: "out\n", stderr: "err\n" });
  });

  it("never throws and always ends", () => {
    const piece = fc.constantFrom(
      "echo",
      "a",
      ";",
      "&&",
      "||",
      "|",
      "(",
      ")",
      "{",
      "}",
      "if",
      "then",
      "fi",
      "while",
      "do",
      "done",
      "true",
      "$x",
      '"',
      "'",
      "\\",
      "\n",
      ">",
      "2>&1",
      "!",
      "exit",
      "sleep 1",
      "for",
      "in",
      "case",
      "esac",
      "&",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const result = run(pieces.join(" "));
        expect(Number.isInteger(result.code)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
