import type { Clock } from "../../model/clock.ts";
import { NopsError } from "../../model/errors.ts";
import type { HttpProbe } from "../../workspace/ports.ts";

/** Bytes of an answer that are looked at. */
const longestBody = 1024 * 1024;

/** One GET without redirects, credentials or retries (design D23). */
export function httpProbe(clock: Clock): HttpProbe {
  return {
    async get(url, timeoutMs, signal) {
      const limit = new AbortController();
      const timer = clock.setTimer(timeoutMs, () => limit.abort(new NopsError("no answer in time", { code: "http_timeout" })));
      try {
        const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.any([signal, limit.signal]) });
        return { status: answer.status, body: await readStart(answer) };
      } catch (error) {
        if (limit.signal.aborted) throw limit.signal.reason;
        signal.throwIfAborted();
        throw new NopsError(reasonOf(error), { code: "http_failed" });
      } finally {
        timer.cancel();
      }
    },
  };
}

async function readStart(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  if (answer.body === null) return text;
  for await (const chunk of answer.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestBody) break;
  }
  return text;
}

/** fetch says only "fetch failed"; what happened is in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
  return error instanceof Error ? error.message : String(error);
}
