/** Secrets that live in files: read again when the file changes, trimmed, never empty (contract §2). */
import { readFileSync, statSync } from "node:fs";
import { NopsError } from "../../model/errors.ts";

export interface SecretFile {
  /** @throws NopsError `secret_unreadable` when the file is missing, unreadable or empty. */
  read(): string;
}

/** `onSecret` hears every value that was read, so that the redactor knows it. */
export function secretFile(path: string, onSecret: (secret: string) => void): SecretFile {
  let known: { readonly stamp: string; readonly value: string } | undefined;
  return {
    read: () => {
      const stamp = stampOf(path);
      if (known?.stamp === stamp) return known.value;
      const value = contentOf(path);
      onSecret(value);
      known = { stamp, value };
      return value;
    },
  };
}

function stampOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs}:${size}:${ino}`;
  } catch (error) {
    throw unreadable(path, (error as NodeJS.ErrnoException).code ?? "cannot be read", error);
  }
}

function contentOf(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw unreadable(path, (error as NodeJS.ErrnoException).code ?? "cannot be read", error);
  }
  if (text === "") throw unreadable(path, "is empty");
  return text;
}

function unreadable(path: string, why: string, cause?: unknown): NopsError {
  return new NopsError(`the secret file ${path}: ${why}`, {
    code: "secret_unreadable",
    hint: "the file must exist, be readable for the user nops runs as, and hold the secret",
    ...(cause === undefined ? {} : { cause }),
  });
}
