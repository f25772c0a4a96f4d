import type { Clock, Random } from "../model/clock.ts";

/** A GET is sent at most this often beyond the first time. */
export const MAX_RETRIES = 2;

const BASE_MS = 200;

// 500s after which asking again soon makes sense (nomad-api §11); other 500s stay until spec or cluster change.
const RETRYABLE_500 =
  /no cluster leader|not ready to serve consistent reads|failed to get conn|leadership lost|\bEOF|connection refused/i;

/** Whether a GET with this answer may be sent again by itself. */
export function retryableAnswer(status: number, text: string): boolean {
  return status === 429 || (status >= 502 && status <= 504) || (status === 500 && RETRYABLE_500.test(text));
}

/** Milliseconds before retry number `attempt` (from 1): what the server asked for, else doubling with up to 50 % jitter. */
export function retryDelayMs(attempt: number, retryAfterMs: number | undefined, random: Random): number {
  return retryAfterMs ?? BASE_MS * 2 ** (attempt - 1) * (1 + random.next() / 2);
}

/** Reads `Retry-After`, seconds or a date; `undefined` when absent or not readable. Never negative. */
export function retryAfterMs(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.now());
}
