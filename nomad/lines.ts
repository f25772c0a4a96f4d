/** A piece of a stream of lines: a whole line, or the news that one was longer than allowed and was thrown away. */
export type LinePiece = { readonly kind: "line"; readonly text: string } | { readonly kind: "overlong" };

export interface LineSplitter {
  /** Takes the next bytes and gives the lines that they complete, empty ones left out. */
  push(chunk: Buffer): readonly LinePiece[];
}

const NEWLINE = 10;

/**
 * Splits bytes at line feeds, wherever chunks end. Holds at most `maxBytes` of an unfinished line; of a longer one nothing
 * is kept, and its end brings one `overlong` (S75).
 */
export function createLineSplitter(maxBytes: number): LineSplitter {
  let parts: Buffer[] = [];
  let held = 0;
  let skipping = false;

  function hold(part: Buffer): void {
    if (skipping || part.length === 0) return;
    if (held + part.length > maxBytes) {
      parts = [];
      held = 0;
      skipping = true;
      return;
    }
    parts.push(part);
    held += part.length;
  }

  function finish(): LinePiece | undefined {
    const line = Buffer.concat(parts);
    const overlong = skipping;
    parts = [];
    held = 0;
    skipping = false;
    if (overlong) return { kind: "overlong" };
    const text = line.toString("utf8").trim();
    return text === "" ? undefined : { kind: "line", text };
  }

  return {
    push(chunk) {
      const pieces: LinePiece[] = [];
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        hold(chunk.subarray(from, end));
        const piece = finish();
        if (piece !== undefined) pieces.push(piece);
        from = end + 1;
      }
      hold(chunk.subarray(from));
      return pieces;
    },
  };
}
