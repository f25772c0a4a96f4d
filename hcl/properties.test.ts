import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { evaluate } from "./evaluate.ts";
import { classifyFile } from "./job-file.ts";
import { parseJsonBody } from "./json-syntax.ts";
import { BEGINNING } from "./line-map.ts";
import { maskText } from "./mask.ts";
import { type HclParser, loadHclParser } from "./parser.ts";
import { quoteString, renderValue } from "./render.ts";
import type { Expression } from "./syntax.ts";
import { evaluateText, FUNCTIONS_ONLY } from "./testing.ts";
import { boolValue, equalValues, integerValue, nullValue, objectValue, stringValue, tupleValue, type Value } from "./value.ts";
import { parseVariableFile } from "./variables.ts";
import { expressionsOfBody } from "./walk.ts";

const folder = new URL("../simulator/recorded/jobs/", import.meta.url);
const samples = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
const pieces = [
  "{",
  "}",
  '"',
  "\n",
  "${",
  "%{",
  "<<EOT\n",
  "EOT\n",
  "=",
  "[",
  "]",
  "(",
  ")",
  "~}",
  "...",
  "for ",
  "/*",
  "\\",
  "\0",
  "é",
  "\ud800",
];

/** A real file with some places cut, moved or filled with something else. */
const damaged = fc
  .tuple(
    fc.constantFrom(...samples),
    fc.array(fc.tuple(fc.nat(4000), fc.nat(60), fc.constantFrom("", ...pieces)), { minLength: 1, maxLength: 6 }),
  )
  .map(([text, edits]) => {
    return edits.reduce((current, [at, length, piece]) => {
      const start = at % (current.length + 1);
      return current.slice(0, start) + piece + current.slice(start + length);
    }, text);
  });

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.array(fc.constantFrom(...pieces, "a", " ", "job", "1"), { maxLength: 60 }).map((parts) => parts.join("")),
  damaged,
);

let parser: HclParser;
beforeAll(async () => {
  parser = await loadHclParser();
});

describe("any text at all", () => {
  it("is read without throwing", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { body } = parser.parse(text, "f.hcl");
        for (const expression of expressionsOfBody(body)) evaluate(expression, FUNCTIONS_ONLY);
        parser.parseExpression(text, "f.hcl");
        parser.parseTemplate(text, "f.hcl", BEGINNING);
        parseJsonBody(text, "f.json", parser);
        parseVariableFile(text, "f.vars.hcl", parser);
        classifyFile(text, "f.nomad.hcl", parser);
      }),
      { numRuns: 150 },
    );
  });

  it("of random bytes is read without throwing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        parser.parse(new TextDecoder().decode(bytes), "f.hcl");
      }),
      { numRuns: 200 },
    );
  });

  it("keeps its length and its lines when masked", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const masked = maskText(text);
        expect(masked.length).toBe(text.length);
        expect(masked.replace(/[^\n]/g, "")).toBe(text.replace(/[^\n]/g, ""));
      }),
    );
  });

  it.each(["[", "{", "(", "-", "!", "a{\n", '"${', "[for x in y : ", "f(", "a.", "a[", "1 + (", "x ? "])(
    "nested without end (%j) is refused, not fatal",
    (piece) => {
      const text = `a = ${piece.repeat(3_000)}\n`;
      expect(parser.parse(text, "f.hcl").diagnostics.length).toBeGreaterThan(0);
      expect(parser.parse(piece.repeat(3_000), "f.hcl").diagnostics.length).toBeGreaterThan(0);
    },
  );

  it("keeps a chain of many operators", () => {
    const text = Array.from({ length: 90 }, (_, index) => String(index)).join(" + ");
    expect(evaluateText(parser, text)).toBe("4005 number");
  });
});

describe("positions", () => {
  it("cut expressions out of the text that read as the same again", () => {
    for (const text of samples) {
      const { body, diagnostics } = parser.parse(text, "f.hcl");
      expect(diagnostics).toEqual([]);
      for (const expression of expressionsOfBody(body)) {
        if (expression.kind === "splat_item") continue;
        const cut = text.slice(expression.range.start.offset, expression.range.end.offset);
        const again = parser.parseExpression(expression.kind === "template" ? `${cut}\n` : cut, "f.hcl");
        expect(again.diagnostics).toEqual([]);
        expect(shape(again.expression)).toEqual(shape(expression));
      }
    }
  });

  it("agree in lines, columns, bytes and offsets", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), fc.nat(5), (comment, lines) => {
        const head = `${"\n".repeat(lines)}/* ${comment.replaceAll("*/", "")} */ `;
        const text = `${head}name = 1\n`;
        const [attribute] = parser.parse(text, "f.hcl").body.attributes;
        const start = attribute?.nameRange.start;
        expect(start?.offset).toBe(head.length);
        expect(start?.byte).toBe(Buffer.byteLength(head));
        expect(start?.line).toBe(head.split("\n").length);
      }),
    );
  });
});

/** An expression without its positions. */
function shape(expression: Expression): unknown {
  return JSON.parse(JSON.stringify(expression, (key, value: unknown) => (/[rR]ange$/.test(key) ? undefined : value)));
}

const anyValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc
      .oneof(
        fc.string({ unit: "grapheme" }),
        fc.array(fc.constantFrom("$", "%", "{", "}", '"', "\\", "\n", "x", "~"), { maxLength: 8 }).map((parts) => parts.join("")),
      )
      .map(stringValue),
    fc.bigInt().map(integerValue),
    fc.boolean().map(boolValue),
    fc.constant(nullValue()),
    fc.array(tie("value"), { maxLength: 4 }).map(tupleValue),
    fc.dictionary(fc.string({ unit: "grapheme", maxLength: 6 }), tie("value"), { maxKeys: 4 }).map((entries) => {
      return objectValue(Object.entries(entries).map(([name, item]) => [name.normalize("NFC"), item]));
    }),
  ),
})).value;

describe("values written as HCL", () => {
  it("read back as the same values", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { expression, diagnostics } = parser.parseExpression(renderValue(value), "f.hcl");
        expect(diagnostics).toEqual([]);
        expect(equalValues(evaluate(expression, FUNCTIONS_ONLY).value, value)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("stay on one line", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !/[\n\r]/.test(quoteString(text))));
  });
});
