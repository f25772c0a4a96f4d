import type { Token } from "./lexer.ts";
import type { LineMap } from "./line-map.ts";
import type { Diagnostic } from "./syntax.ts";

/** Complaints about characters that never belong into HCL, each kind only so often as it helps. */
export function checkTokens(tokens: readonly Token[], lines: LineMap): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const told = new Map<string, number>();
  const tell = (token: Token, summary: string, detail: string) => {
    diagnostics.push({ severity: "error", summary, detail, range: lines.range(token.start, token.end) });
  };
  const count = (key: string): number => {
    const before = told.get(key) ?? 0;
    told.set(key, before + 1);
    return before;
  };
  for (const token of tokens) {
    if (token.kind === "text_newline") {
      const detail =
        'Quoted strings may not be split over multiple lines. To produce a multi-line string, either use the \\n escape to represent a newline character or use the "heredoc" multi-line template syntax.';
      tell(token, "Invalid multi-line string", detail);
    } else if (token.kind === "invalid") {
      tell(token, "Invalid character", invalidCharacter(token.text));
    } else if (token.kind === "symbol") {
      const complaint = SYMBOLS[token.text];
      if (complaint === undefined) continue;
      const before = count(complaint.key);
      // Quotes come in pairs: only the opening one is worth a word, and two pairs are enough.
      if (complaint.pairs ? before === 0 || before === 2 : before < complaint.most)
        tell(token, complaint.summary, complaint.detail);
    }
  }
  return diagnostics;
}

function invalidCharacter(character: string): string {
  if (character !== "“" && character !== "”") return "This character is not used within the language.";
  return '"Curly quotes" are not valid here. These can sometimes be inadvertently introduced when sharing code via documents or discussion forums. It might help to replace the character with a "straight quote".';
}

interface Complaint {
  readonly key: string;
  readonly most: number;
  readonly pairs?: boolean;
  readonly summary: string;
  readonly detail: string;
}

function bitwise(suggestion: string): Complaint {
  return {
    key: "bitwise",
    most: 4,
    summary: "Unsupported operator",
    detail: `Bitwise operators are not supported.${suggestion}`,
  };
}

const SYMBOLS: Readonly<Record<string, Complaint>> = {
  "&": bitwise(' Did you mean boolean AND ("&&")?'),
  "|": bitwise(' Did you mean boolean OR ("||")?'),
  "~": bitwise(' Did you mean boolean NOT ("!")?'),
  "^": bitwise(""),
  ";": {
    key: ";",
    most: 1,
    summary: "Invalid character",
    detail:
      'The ";" character is not valid. Use newlines to separate arguments and blocks, and commas to separate items in collection values.',
  },
  "'": {
    key: "'",
    most: 0,
    pairs: true,
    summary: "Invalid character",
    detail: 'Single quotes are not valid. Use double quotes (") to enclose strings.',
  },
  "`": {
    key: "`",
    most: 0,
    pairs: true,
    summary: "Invalid character",
    detail: 'The "`" character is not valid. To create a multi-line string, use the "heredoc" syntax, like "<<EOT".',
  },
};
