import { LineMap } from "./line-map.ts";
import { maskText } from "./mask.ts";

/** A file that is written for another tool than Nomad's HCL2 parser. */
export interface ForeignTemplate {
  readonly tool: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

interface Mark {
  readonly tool: string;
  readonly pattern: RegExp;
  readonly says: string;
}

// `[[` also opens a tuple in a tuple, a POSIX class and a test of bash: only what a template engine would act on counts. Of variables
// that is what no test of bash looks like: one without a space before it, with a field, or with something done to it.
const SQUARE =
  /\[\[-?(?:\$|\s*(?:\.[A-Za-z_]|\$\w*(?:\.[\w.]+\s*-?\]\]|,?\s*\$?\w*\s*:=|\s*\|\s*\w)|(?:var|template|range|if|else|end|with|env|key|keyOrDefault|define|include|fileContents|meta|my)\b))/;

/** A `template` block may take these brackets for its own, which the client renders. */
const OWN_BRACKETS = /\bleft_delimiter"?\s*[=:]\s*"\[\[/;

/** Seen even where the text is valid HCL, because these marks also stand inside strings. */
const IN_ANY_TEXT: readonly Mark[] = [
  {
    tool: "Nomad Pack or Levant",
    pattern: SQUARE,
    says: "holds [[ ]] placeholders of Nomad Pack or Levant; render it and commit the result",
  },
];

/** Only looked for in files that are no valid HCL, outside of strings, heredocs and comments. */
const IN_CODE: readonly Mark[] = [
  {
    tool: "Nomad Pack or Levant",
    pattern: /\[\[-?\s*[A-Za-z_.$/]/,
    says: "holds [[ ]] placeholders of Nomad Pack or Levant; render it and commit the result",
  },
  {
    tool: "Go template",
    pattern: /\{\{/,
    says: "holds {{ }} of a Go template or Jinja outside of strings; render it and commit the result",
  },
  { tool: "Jinja", pattern: /\{%/, says: "holds {% %} of a Jinja template; render it and commit the result" },
  { tool: "ERB", pattern: /<%/, says: "holds <% %> of an ERB template; render it and commit the result" },
  {
    tool: "Terraform",
    pattern: /[$%]\{/,
    says: "holds placeholders of Terraform's templatefile() outside of strings; render it, or use HCL2 variables",
  },
];

/** HCL1 took quoted names of arguments; HCL2 does not. */
const HCL1_NAME = /^[ \t]*"[^"\n]*"[ \t]*=/m;

/** Which other tool the text is written for, if any. `valid` says whether it is valid HCL2 as it stands. */
export function findForeignTemplate(text: string, filename: string, valid: boolean): ForeignTemplate | undefined {
  const found = OWN_BRACKETS.test(text) ? undefined : search(IN_ANY_TEXT, text, text, filename);
  if (found !== undefined || valid) return found;
  const code = maskText(text);
  return search(IN_CODE, code, text, filename) ?? findHcl1(text, code, filename);
}

function search(marks: readonly Mark[], searched: string, text: string, filename: string): ForeignTemplate | undefined {
  for (const { tool, pattern, says } of marks) {
    const at = searched.search(pattern);
    if (at !== -1) return { tool, line: new LineMap(text, filename).position(at).line, message: says };
  }
  return undefined;
}

function findHcl1(text: string, code: string, filename: string): ForeignTemplate | undefined {
  const lines = new LineMap(text, filename);
  const pattern = new RegExp(HCL1_NAME, "gm");
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const equals = match.index + match[0].length - 1;
    // In code the equals sign survives the masking; in a heredoc it does not. In an object a quoted key is fine.
    if (code[equals] !== "=" || insideObject(code, match.index)) continue;
    const { line } = lines.position(match.index + match[0].search(/\S/));
    return {
      tool: "HCL1",
      line,
      message: "is written in HCL1 (quoted argument names); Nomad reads only HCL2: remove the quotes, or use `name = { … }`",
    };
  }
  return undefined;
}

/** Whether the innermost open bracket before a place belongs to an expression: `= {`, `(`, `[`. */
function insideObject(code: string, at: number): boolean {
  let depth = 0;
  for (let index = at - 1; index >= 0; index -= 1) {
    const character = code[index];
    if (character === "}" || character === ")" || character === "]") depth += 1;
    else if (character === "{" || character === "(" || character === "[") {
      if (depth === 0) return character !== "{" || /[=:,([?]\s*$/.test(code.slice(Math.max(0, index - 80), index));
      depth -= 1;
    }
  }
  return false;
}
