/** Nomad as a test sees it beside nops. */
export type NomadCaller = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** Plain calls to a Nomad. @throws with status and text of any refusal. */
export function nomadCaller(address: string): NomadCaller {
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${address}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  };
}
