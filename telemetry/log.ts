/** The process's log: one line per entry, on stderr, every text passed through the redactor (design D25, operator §24). */
import { type Logger, pino } from "pino";
import type { Log, LogFields } from "../model/log.ts";

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly format: "json" | "text";
  /** Where lines go; process stderr in production. */
  readonly write: (line: string) => void;
  /** Masks secrets in a finished line. */
  readonly redact: (text: string) => string;
}

/** A log that writes whole lines. Never throws, whatever the fields hold. */
export function createLog(options: LogOptions): Log {
  const format = options.format === "json" ? (line: string) => line : textLine;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: errorFields },
    },
    { write: (line: string) => options.write(options.redact(format(line))) },
  );
  return wrap(logger);
}

function wrap(logger: Logger<never>): Log {
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    child: (fields: LogFields) => wrap(logger.child(fields)),
  };
}

/** Message, code and cause of an error, but no other property: those may hold requests with credentials. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return {
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    ...(error.cause instanceof Error ? { cause: error.cause.message } : {}),
    stack: error.stack,
  };
}

/** `2026-01-02T03:04:05.678Z INFO message key=value`, for people at a terminal. */
function textLine(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `${String(time)} ${String(level).toUpperCase()} ${String(msg)}${rest.join("")}\n`;
}
