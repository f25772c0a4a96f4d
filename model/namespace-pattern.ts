import { createGlob } from "./glob.ts";

/** Whether a text is a pattern of namespaces: characters that names of namespaces have, and those of globs that can be read. */
export function isNamespacePattern(text: string): boolean {
  if (!/^[A-Za-z0-9*?{},_-]{1,128}$/.test(text)) return false;
  try {
    createGlob(text);
    return true;
  } catch {
    return false;
  }
}
