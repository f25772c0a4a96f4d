import type { NomadClientOptions } from "./options.ts";
import { unreadableFile, watchFile } from "./watched-file.ts";

/** Where the token of the next request comes from. */
export interface TokenSource {
  /** `undefined`: none is configured. @throws NomadError `not_sent` when there should be one and it cannot be had. */
  current(): Promise<string | undefined>;
  /**
   * Nomad did not accept this token.
   * @returns whether a new one may be had, so that asking once more makes sense.
   */
  rejected(token: string): boolean;
}

/** Token as it stands in the options: from its file (read again on change, design D23), else the literal one. */
export function configuredToken(options: Pick<NomadClientOptions, "token" | "tokenFile" | "files">): TokenSource {
  const { tokenFile } = options;
  if (tokenFile === undefined || tokenFile === "") {
    const literal = options.token === "" ? undefined : options.token;
    return { current: async () => literal, rejected: () => false };
  }
  const file = watchFile(tokenFile, options.files);
  return {
    async current() {
      try {
        return (await file.text()).trim();
      } catch (error) {
        throw unreadableFile("token", tokenFile, error);
      }
    },
    rejected: () => false,
  };
}
