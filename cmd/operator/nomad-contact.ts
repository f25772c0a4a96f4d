import { type Clock, type Instant, toInstant } from "../../model/clock.ts";
import { messageWithHint } from "../../model/errors.ts";
import type { RequestObservation } from "../../nomad/options.ts";
import type { WatchState } from "../../nomad/watch-options.ts";

/** What is known of the way to Nomad, from the calls and streams that are made anyway: no call is spent on it. */
export class NomadContact {
  readonly #clock: Clock;
  readonly #streams = new Map<string, string | undefined>();
  #lastCall: { readonly ok: boolean; readonly text: string } | undefined;
  #lastContact: Instant | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Any answer at all is contact, a refusal included. */
  onRequest(observation: RequestObservation): void {
    const answered = observation.status !== undefined;
    if (answered) this.#lastContact = toInstant(this.#clock.now());
    this.#lastCall = { ok: answered, text: observation.failure ?? `${observation.operation} got no answer` };
  }

  onStream(state: WatchState): void {
    this.#streams.set(state.namespace, state.connected ? undefined : reasonOf(state));
    if (state.connected) this.#lastContact = toInstant(this.#clock.now());
  }

  get lastContactAt(): Instant | undefined {
    return this.#lastContact;
  }

  /** Why Nomad counts as unreachable; `undefined` while it answers. */
  get error(): string | undefined {
    if (this.#lastContact === undefined)
      return this.#lastCall?.text ?? [...this.#streams.values()].find((text) => text !== undefined) ?? "not asked yet";
    if (this.#lastCall?.ok === false) return this.#lastCall.text;
    return [...this.#streams.values()].find((text) => text !== undefined);
  }
}

/** Errors of a stream name its namespace. */
function reasonOf({ namespace, error }: WatchState): string {
  return error === undefined ? `the event stream of namespace ${namespace} is not open yet` : messageWithHint(error);
}
