import type { NomadTransport } from "./transport.ts";

/** Functions that take the transport first. */
type Calls = Readonly<Record<string, (transport: NomadTransport, ...args: never[]) => unknown>>;

/** The same functions without it. */
export type Bound<C extends Calls> = {
  readonly [Name in keyof C]: C[Name] extends (transport: NomadTransport, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** Hands the transport to every call once and for all. */
export function bindCalls<C extends Calls>(transport: NomadTransport, calls: C): Bound<C> {
  const bound = Object.entries(calls).map(([name, call]) => [name, call.bind(undefined, transport)]);
  return Object.fromEntries(bound) as Bound<C>;
}
