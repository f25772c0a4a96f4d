/**
 * The text with the inside of strings, heredocs and comments replaced by spaces (line breaks stay), so that what is
 * left is code; places keep their offsets. Works on broken texts as well: a string ends at the end of its line.
 */
export function maskText(text: string): string {
  let masked = "";
  let at = 0;
  while (at < text.length) {
    const end = stretchEnd(text, at);
    if (end === undefined) {
      masked += text[at] ?? "";
      at += 1;
    } else {
      masked += text.slice(at, end).replace(/[^\n]/g, " ");
      at = end;
    }
  }
  return masked;
}

/** Where the string, heredoc or comment that begins here ends. */
function stretchEnd(text: string, at: number): number | undefined {
  const character = text[at];
  if (character === '"') return stringEnd(text, at);
  if (character === "#" || text.startsWith("//", at)) return lineEnd(text, at);
  if (text.startsWith("/*", at)) {
    const end = text.indexOf("*/", at + 2);
    return end === -1 ? text.length : end + 2;
  }
  if (text.startsWith("<<", at)) return heredocEnd(text, at);
  return undefined;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Strings inside an interpolation are part of the string around it. */
function stringEnd(text: string, start: number): number {
  let depth = 0;
  let inner = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n") return at;
    if (character === "\\") at += 1;
    else if (character === '"') {
      if (depth === 0) return at + 1;
      inner = !inner;
    } else if (!inner && (character === "$" || character === "%") && text[at + 1] === "{" && text[at - 1] !== character) {
      depth += 1;
      at += 1;
    } else if (!inner && depth > 0 && character === "{") depth += 1;
    else if (!inner && depth > 0 && character === "}") depth -= 1;
  }
  return text.length;
}

function heredocEnd(text: string, start: number): number | undefined {
  const match = /^<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)[ \t]*\r?\n/u.exec(text.slice(start, start + 256));
  const marker = match?.[1];
  if (match === null || marker === undefined) return undefined;
  let at = start + match[0].length;
  while (at < text.length) {
    const end = lineEnd(text, at);
    if (text.slice(at, end).trim() === marker) return end;
    at = end + 1;
  }
  return text.length;
}
