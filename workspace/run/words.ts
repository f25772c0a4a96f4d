import { InvalidRequestError } from "../../model/errors.ts";

/**
 * Splits a command line into words as a shell would without expanding anything: blanks part, quotes and backslashes keep.
 * @throws InvalidRequestError `unclosed_quote`.
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let index = 0; index < text.length; index++) {
    const char = text[index] ?? "";
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (char === "\\" && quote === '"' && /["\\$`]/.test(text[index + 1] ?? ""))
        word = (word ?? "") + (text[++index] ?? "");
      else word = (word ?? "") + char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === "\\" && index + 1 < text.length) {
      word = (word ?? "") + (text[++index] ?? "");
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote !== undefined) throw new InvalidRequestError(`a quote is not closed: ${text}`, { code: "unclosed_quote" });
  if (word !== undefined) words.push(word);
  return words;
}
