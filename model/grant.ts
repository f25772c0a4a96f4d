import type { TokenCapability } from "./capabilities.ts";
import { createGlob } from "./glob.ts";

/** Rights that belong together, as they are written down: capabilities, and patterns of the namespaces in which they hold. */
export interface Rights {
  readonly capabilities: readonly TokenCapability[];
  /** Globs; `*` is all. */
  readonly namespaces: readonly string[];
}

/** The same, ready to be asked. */
export interface Grant extends Rights {
  covers(namespace: string): boolean;
  /** Whether it reaches every namespace: needed for what is not about one job. */
  readonly everywhere: boolean;
}

export function grantOf(rights: Rights): Grant {
  const globs = rights.namespaces.map((pattern) => createGlob(pattern));
  return {
    capabilities: rights.capabilities,
    namespaces: rights.namespaces,
    covers: (namespace) => globs.some((matches) => matches(namespace)),
    everywhere: rights.namespaces.includes("*"),
  };
}
