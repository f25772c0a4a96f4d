/** Data of a view: loaded once, then again whenever nops reports an event. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { token } from "./api.ts";
import { session } from "./session.ts";

/** Raised by one with every event of nops. */
export const changes = signal(0);

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
}

/** Loads and keeps loading; a failed reload keeps the last data beside the error. */
export function useResource<T>(load: () => Promise<T>, key: string): Resource<T> {
  const [state, setState] = useState<{ readonly data: T | undefined; readonly error: Error | undefined }>({
    data: undefined,
    error: undefined,
  });
  const [asked, ask] = useState(0);
  const version = changes.value;
  const identity = `${token.value} ${session.value?.identity ?? ""}`;
  useEffect(() => {
    let current = true;
    load().then(
      (data) => current && setState({ data, error: undefined }),
      (error: unknown) =>
        current &&
        setState((before) => ({ data: before.data, error: error instanceof Error ? error : new Error(String(error)) })),
    );
    return () => {
      current = false;
    };
    // `load` is new with every render; `key` says when it means something else.
  }, [key, version, identity, asked]);
  return { ...state, reload: () => ask((count) => count + 1) };
}
