/** One line of `nops doctor`. */
export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  /** What was looked at, in one word. */
  readonly check: string;
  readonly message: string;
  /** What to do about it; present unless ok. */
  readonly cure?: string;
}

export function ok(check: string, message: string): Finding {
  return { level: "ok", check, message };
}

export function warn(check: string, message: string, cure: string): Finding {
  return { level: "warn", check, message, cure };
}

export function fail(check: string, message: string, cure: string): Finding {
  return { level: "fail", check, message, cure };
}
