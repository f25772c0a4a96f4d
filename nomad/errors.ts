import { NomadError, type NomadErrorKind } from "../model/errors.ts";

/** What a call does to Nomad. A `read` (plan, parse and validate too) has no outcome that could be unknown. */
export type Effect = "read" | "write";

/** The call that failed, in words: "register job default/web". Never an identifier that is a secret. */
export interface CallWords {
  readonly what: string;
  readonly effect: Effect;
}

/** Why no whole answer came. */
export interface ExchangeFailure {
  readonly reason: "network" | "deadline" | "aborted" | "too_large" | "unreadable";
  /** `false` only when no byte of the request can have reached Nomad. */
  readonly sent: boolean;
  /** Error code of the system or of TLS, when there is one. */
  readonly code: string | undefined;
  /** Status of the answer that broke off. */
  readonly status: number | undefined;
}

const MAX_TEXT = 4_000;

// Texts of Nomad (nomad-api §11, §17); they stand in answers with status 500.
const DISABLED = /registration, dispatch, and scale are disabled/i;
const NOT_PERMITTED = /permission denied|acl token (not found|expired)|token is expired/i;
const NOTHING_HAPPENED =
  /no cluster leader|not ready to serve consistent reads|no path to region|failed to get conn|dial (tcp|unix)|too many concurrent connections/i;
const LOST_AT_END =
  /(\bEOF|i\/o timeout|connection reset by peer|broken pipe|connection refused|context (deadline exceeded|canceled))$/i;
const LOST = /leadership (lost|transfer)|timed out enqueuing operation|raft is (already )?shutdown|node is not the leader/i;
const LOST_RPC = /^rpc error: (?!.*errors? occurred).*(EOF|timeout|timed out|connection refused)/i;
const NOT_FOUND =
  /(^|: )(parameterized job|periodic job|job( "[^"]*")?|job versions|deployment|eval(uation)?|alloc(ation)?|node|namespace|variable)( version)? not found$/i;

/**
 * What an answer that is no success means to the caller (model/errors.ts).
 * `status` 3xx counts: a redirect is never followed.
 */
export function kindOfAnswer(status: number, text: string, effect: Effect): NomadErrorKind {
  if (text.includes("Enforcing job modify index") || status === 409) return "conflict";
  if (DISABLED.test(text)) return "refused";
  if (status === 401 || status === 403) return "not_permitted";
  if (status === 404) return "not_found";
  if (status === 429) return "overloaded";
  if (status < 500) return "refused";
  // Names in quotes are the user's: a job called "timeout" must not decide.
  const words = text.trim().replace(/"[^"]*"/g, '""');
  if (NOT_FOUND.test(words)) return "not_found";
  if (NOT_PERMITTED.test(words)) return "not_permitted";
  if (NOTHING_HAPPENED.test(words)) return "overloaded";
  const lost = LOST_AT_END.test(words) || LOST.test(words) || LOST_RPC.test(words) || (status >= 502 && status <= 504);
  if (lost) return effect === "write" ? "unknown_outcome" : "overloaded";
  return status === 500 || status === 501 || effect === "read" ? "refused" : "unknown_outcome";
}

/** Error for an answer with a status that is no success. `text` is Nomad's own, already freed of the token. */
export function answerError(
  call: CallWords,
  answer: {
    readonly status: number;
    readonly text: string;
    readonly retryAfterMs: number | undefined;
    readonly location?: string;
  },
): NomadError {
  const kind = kindOfAnswer(answer.status, answer.text, call.effect);
  const redirect = answer.status >= 300 && answer.status < 400;
  const said = redirect ? `redirected${whereTo(answer.location)}; redirects are never followed` : excerpt(answer.text);
  return new NomadError(`cannot ${call.what}: ${said === "" ? `Nomad answered ${answer.status} without a text` : said}`, {
    kind,
    status: answer.status,
    retryAfterMs: answer.retryAfterMs,
    ...hintFor(kind, redirect),
  });
}

/** Error for a call whose answer did not come whole. Carries no cause: the library's errors hold headers and with them the token. */
export function failureError(call: CallWords, failure: ExchangeFailure, address: string): NomadError {
  const kind = kindOfFailure(call.effect, failure);
  return new NomadError(`cannot ${call.what}: ${failureWords(failure, address)}${outcomeWords(kind)}`, {
    kind,
    status: failure.status,
    ...hintFor(kind, false),
  });
}

function kindOfFailure(effect: Effect, failure: ExchangeFailure): NomadErrorKind {
  if (!failure.sent) return "not_sent";
  if (effect === "write") return "unknown_outcome";
  // The next answer would be as large.
  return failure.reason === "too_large" ? "refused" : "overloaded";
}

/** Why no whole answer came, with the address that was asked. */
export function failureWords({ reason, code, sent }: ExchangeFailure, address: string): string {
  const coded = code === undefined ? "" : ` (${code})`;
  switch (reason) {
    case "deadline":
      return sent ? `Nomad at ${address} gave no whole answer in time` : `no connection to Nomad at ${address} in time`;
    case "aborted":
      return "the call was cancelled";
    case "too_large":
      return "Nomad's answer is larger than allowed";
    case "unreadable":
      return "Nomad's answer is not what was asked for";
    case "network":
      return sent
        ? `the connection to Nomad at ${address} broke before the whole answer came${coded}`
        : `no connection to Nomad at ${address}${coded}`;
  }
}

function outcomeWords(kind: NomadErrorKind): string {
  return kind === "unknown_outcome" ? "; whether it took effect is unknown" : "";
}

function hintFor(kind: NomadErrorKind, redirect: boolean): { readonly hint?: string } {
  if (redirect) return { hint: "set the address of Nomad itself, not of something that redirects to it" };
  switch (kind) {
    case "not_sent":
      return { hint: "check the address of Nomad, its certificate, and that it runs" };
    case "not_permitted":
      return { hint: "check the token and its policy; nops doctor names what is missing" };
    default:
      return {};
  }
}

function excerpt(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > MAX_TEXT ? `${trimmed.slice(0, MAX_TEXT)}… (${trimmed.length} characters)` : trimmed;
}

/** Only the origin: a path or query may carry what we sent. */
function whereTo(location: string | undefined): string {
  return location !== undefined && URL.canParse(location) ? ` to ${new URL(location).origin}` : "";
}
