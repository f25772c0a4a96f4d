/** What an API token may do (design D38). `read` is the default; `admin` is everything. */
export const tokenCapabilities = [
  "read",
  "approve",
  "promote",
  "retry",
  "deploy-now",
  "pause",
  "fetch",
  "resolve",
  "admin",
] as const;

export type TokenCapability = (typeof tokenCapabilities)[number];

export function isTokenCapability(text: string): text is TokenCapability {
  return (tokenCapabilities as readonly string[]).includes(text);
}
