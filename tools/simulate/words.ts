import { type Log, silentLog } from "../../model/log.ts";

/** A log that listens for passes that failed with anything but an error of nops's own. */
export function watchfulLog(tell: (what: string) => void): Log {
  const log: Log = {
    ...silentLog,
    error: (message, fields) => {
      if (message === "a pass failed" && fields?.["code"] === undefined) tell(String(fields?.["error"]));
    },
    child: () => log,
  };
  return log;
}

/** An error with the place where it was made. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Values in one short line. */
export function brief(values: readonly unknown[]): string {
  const text = values.map((value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "-"))).join(", ");
  return text.length > 110 ? `${text.slice(0, 110)}…` : text;
}
