import { expect, it } from "vitest";
import { longFunctions, median } from "./check-size.ts";

it("names a function longer than the budget, and only that one", () => {
  const body = "  count += 1;\n".repeat(61);
  const text = `function short() {\n  return 1;\n}\nfunction long() {\n${body}}\nconst arrow = () => {\n${body}};\n`;
  expect(longFunctions("x.ts", text)).toEqual([
    { name: "long", line: 4, lines: 63 },
    { name: "arrow", line: 67, lines: 63 },
  ]);
});

it("takes the middle value as median", () => {
  expect(median([300, 10, 20])).toBe(20);
  expect(median([])).toBe(0);
});
