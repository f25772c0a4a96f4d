import type { Position, SourceRange } from "./syntax.ts";

const NON_ASCII = /[^\x00-\x7f]/;
const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Where a text begins that is no part of another. */
export const BEGINNING: Position = { line: 1, column: 1, byte: 0, offset: 0 };

/** Turns offsets of one text into lines, columns and bytes. */
export class LineMap {
  readonly #text: string;
  readonly #filename: string;
  readonly #lineStarts: number[] = [0];
  /** Bytes before each line; empty when the text is pure ASCII and bytes equal offsets. */
  readonly #lineBytes: number[] = [];
  /** Where the text begins in what it is part of. */
  readonly #origin: Position;
  /** Offsets that callers give count from this far before the text. */
  readonly #shift: number;

  readonly #columns: ((text: string) => number) | undefined;

  /** `columns` counts the columns of a piece of a line where that is not the number of its characters. */
  constructor(text: string, filename: string, origin = BEGINNING, shift = 0, columns?: (text: string) => number) {
    this.#shift = shift;
    this.#columns = columns;
    this.#text = text;
    this.#filename = filename;
    this.#origin = origin;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
    if (!NON_ASCII.test(text)) return;
    let bytes = 0;
    this.#lineStarts.forEach((start, index) => {
      this.#lineBytes.push(bytes);
      bytes += Buffer.byteLength(text.slice(start, this.#lineStarts[index + 1] ?? text.length));
    });
  }

  /** The place at an offset in UTF-16 units; offsets beyond the text count as its end. */
  position(offset: number): Position {
    const at = Math.max(0, Math.min(offset - this.#shift, this.#text.length));
    const index = this.#lineIndex(at);
    const start = this.#lineStarts[index] ?? 0;
    const lineBytes = this.#lineBytes[index];
    const before = this.#text.slice(start, at);
    const columns = this.#columns?.(before) ?? (lineBytes === undefined ? before.length : countCharacters(before));
    return {
      line: index + this.#origin.line,
      column: columns + (index === 0 ? this.#origin.column : 1),
      byte: (lineBytes === undefined ? at : lineBytes + Buffer.byteLength(before)) + this.#origin.byte,
      offset: at + this.#origin.offset,
    };
  }

  range(start: number, end: number): SourceRange {
    return { filename: this.#filename, start: this.position(start), end: this.position(Math.max(start, end)) };
  }

  #lineIndex(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** How many characters a reader sees in the text (grapheme clusters). */
export function countCharacters(text: string): number {
  if (!NON_ASCII.test(text) && !text.includes("\r\n")) return text.length;
  let count = 0;
  for (const _ of segmenter.segment(text)) count += 1;
  return count;
}
