import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { generatedDocuments } from "./generated-docs.ts";

it.each(generatedDocuments())(
  "$path is what the code says (write it anew with: node dist/tools/generated-docs.js)",
  ({ path, text }) => {
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);
