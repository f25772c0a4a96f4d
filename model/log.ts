/** Values that go beside a log message. Each key appears once on a line (operator §24). */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured log. Messages are constant sentences; whatever varies goes into fields.
 * Every line passes the redactor before it leaves the process (design D25).
 */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log that adds these fields to every line. */
  child(fields: LogFields): Log;
}

/** A log that drops everything, for tests and one-shot commands. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
