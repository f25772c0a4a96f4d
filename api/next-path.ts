/**
 * Where a login leads: the wanted path of the dashboard, or its beginning. Refused are another host in any spelling (`//`, `/\`, a scheme),
 * backslashes and control characters, which browsers drop (operator §22.2), and the login itself.
 */
export function safeNext(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > 1_000) return "/";
  if (!wanted.startsWith("/") || wanted.startsWith("//") || /[\\\p{Cc}]/u.test(wanted)) return "/";
  const resolved = new URL(wanted, "http://nops.invalid");
  const foreign = resolved.host !== "nops.invalid" || resolved.pathname.startsWith("//");
  return foreign || /^\/(login|auth|api)(\/|$)/.test(resolved.pathname) ? "/" : resolved.pathname + resolved.search;
}
