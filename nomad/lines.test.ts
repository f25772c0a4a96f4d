import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heldBytesAfter } from "../testkit/held-bytes.ts";
import { createLineSplitter, type LinePiece } from "./lines.ts";

function split(text: string, cuts: readonly number[], maxBytes = 1_000): LinePiece[] {
  const bytes = Buffer.from(text, "utf8");
  const edges = [0, ...[...cuts].sort((a, b) => a - b).map((cut) => Math.min(cut, bytes.length)), bytes.length];
  const splitter = createLineSplitter(maxBytes);
  return edges.slice(1).flatMap((end, i) => splitter.push(bytes.subarray(edges[i], end)));
}

const line = (text: string): LinePiece => ({ kind: "line", text });

describe("line splitter", () => {
  const text = '{}\n{"a":"äöü€😀"}\n\r\n{"b":2}\n{"unfinished';

  it("gives the same lines wherever the bytes are cut", () => {
    const whole = [line("{}"), line('{"a":"äöü€😀"}'), line('{"b":2}')];
    for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1) expect(split(text, [cut])).toEqual(whole);
  });

  it("does so for any text and any cuts", () => {
    const lines = fc.array(fc.string({ unit: "grapheme" }).filter((s) => s.trim() === s && s !== "" && !s.includes("\n")));
    fc.assert(
      fc.property(lines, fc.array(fc.nat(200)), (texts, cuts) => {
        expect(split(texts.map((t) => `${t}\n`).join(""), cuts, 10_000)).toEqual(texts.map(line));
      }),
    );
  });

  it("throws a line away that is longer than allowed, says so once, and goes on", () => {
    const pieces = split(`1\n${"x".repeat(5_000)}\n2\n`, [10, 900, 2_000], 100);
    expect(pieces).toEqual([line("1"), { kind: "overlong" }, line("2")]);
    expect(split(`${"y".repeat(100)}\n`, [], 100)).toEqual([line("y".repeat(100))]);
  });

  it("keeps no bytes of a line that never ends", async () => {
    const splitter = createLineSplitter(1_024);
    const chunk = Buffer.alloc(64 * 1_024, 120);
    const held = await heldBytesAfter(() => {
      for (let i = 0; i < 1_000; i += 1) expect(splitter.push(Buffer.from(chunk))).toEqual([]);
    }, 10_000_000);
    expect(held).toBeLessThan(10_000_000);
    expect(splitter.push(Buffer.from("\nok\n"))).toEqual([{ kind: "overlong" }, line("ok")]);
  });
});
