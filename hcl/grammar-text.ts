import type { Token } from "./lexer.ts";

/**
 * The text as the tree's grammar gets it: same length, same line breaks, but without what only costs time or trips it
 * up. The inside of strings and comments becomes blank (the readers cut texts from the source), and numbers with an
 * exponent, which it does not know without a fraction, become plain digits.
 */
export function grammarText(text: string, tokens: readonly Token[]): string {
  let result = "";
  let at = 0;
  for (const token of tokens) {
    const replacement = replacementFor(token);
    if (replacement === undefined) continue;
    result += text.slice(at, token.start) + replacement;
    at = token.end;
  }
  return result + text.slice(at);
}

function replacementFor({ kind, text }: Token): string | undefined {
  if (kind === "text" || kind === "comment") return text.replace(/[^\n]/g, " ");
  if (kind === "number" && /[eE]/.test(text)) return text.replace(/[^0-9]/g, "0");
  return undefined;
}
