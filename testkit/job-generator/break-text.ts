import type { Random } from "../../model/clock.ts";
import { type Chooser, chooser } from "./chooser.ts";

/** Words of HCL and of job files, and what people put in their place. */
const SNIPPETS = [
  "{",
  "}",
  "[",
  "]",
  "(",
  ")",
  '"',
  "=",
  ",",
  ":",
  "?",
  "${",
  "%{",
  "}}",
  "<<EOT",
  "EOT",
  "...",
  "==",
  "!",
  "-",
  "null",
  "true",
  "1e3",
  "-1",
  "0x1f",
  "var.nope",
  "local.nope",
  "${var.nope}",
  "upper(1)",
  "nope()",
  "[1, 2]",
  "{ a = 1 }",
  '"text"',
  '"5"',
  "/* note",
  "# note",
  "// note",
  "for",
  "if",
  "group",
  "task",
  "count",
  "driver",
  "job",
  'variable "v" {}',
  "\n",
  ";",
  "'",
  "\\",
  "é",
  "\u0000",
];

const TOKEN = /"(?:[^"\\\n]|\\.)*"|[A-Za-z_][\w-]*|\d+(?:\.\d+)?|\s+|[^\s\w]/gy;

/**
 * A job file with one to three mistakes of the kinds that people make: something left out, doubled, swapped, misspelt, or in the
 * wrong place. The same seed makes the same mistakes.
 */
export function breakText(random: Random, text: string): string {
  const choose = chooser(random);
  let broken = text;
  for (let i = choose.chance(0.7) ? 1 : choose.int(2, 3); i > 0; i--) {
    broken = choose.chance(0.3) ? breakLine(choose, broken) : breakToken(choose, broken);
  }
  return broken;
}

function breakToken(choose: Chooser, text: string): string {
  const tokens = text.match(TOKEN) ?? [text];
  const places = tokens.flatMap((token, i) => (token.trim() === "" ? [] : [i]));
  if (places.length === 0) return text;
  const at = choose.pick(places);
  const token = tokens[at] ?? "";
  const put = (...next: string[]): string => [...tokens.slice(0, at), ...next, ...tokens.slice(at + 1)].join("");
  switch (choose.int(0, 6)) {
    case 0:
      return put();
    case 1:
      return put(token, token);
    case 2:
      return put(choose.pick(SNIPPETS));
    case 3:
      return put(token, choose.pick(SNIPPETS));
    case 4:
      return put(misspelt(choose, token));
    case 5:
      return put(choose.pick(tokens));
    default:
      return put(token.startsWith('"') ? token.slice(1, -1) : `"${token}"`);
  }
}

function misspelt(choose: Chooser, token: string): string {
  const at = choose.int(0, Math.max(0, token.length - 1));
  if (choose.chance(0.5)) return token.slice(0, at) + token.slice(at + 1);
  return `${token.slice(0, at)}${choose.pick(["x", "_", "s"])}${token.slice(at)}`;
}

function breakLine(choose: Chooser, text: string): string {
  const lines = text.split("\n");
  const [at, other] = [choose.int(0, lines.length - 1), choose.int(0, lines.length - 1)];
  const [line = "", second = ""] = [lines[at], lines[other]];
  const put = (...next: string[]): string => [...lines.slice(0, at), ...next, ...lines.slice(at + 1)].join("\n");
  switch (choose.int(0, 4)) {
    case 0:
      return put();
    case 1:
      return put(line, line);
    case 2:
      return put(second);
    case 3:
      return put(line + second.trim());
    default:
      return lines.slice(0, at).join("\n");
  }
}
