const SECRET_WORDS = new Set([
  "apikey",
  "auth",
  "authorization",
  "bearer",
  "cookie",
  "credential",
  "credentials",
  "creds",
  "dsn",
  "jwt",
  "key",
  "keys",
  "license",
  "licence",
  "otp",
  "passphrase",
  "passwd",
  "password",
  "passwords",
  "pass",
  "private",
  "pwd",
  "salt",
  "secret",
  "secrets",
  "signature",
  "token",
  "tokens",
]);
const SECRET_PART =
  /password|passwd|passphrase|pwd|token|secret|auth|credential|privatekey|apikey|accesskey|encryptionkey|dsn|connectionstring/;

/** Whether values of such a name are probably nobody's business: `db_password`, `apiToken`, `TLS_KEY` (design D28). */
export function looksSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return words.some((word) => SECRET_WORDS.has(word)) || SECRET_PART.test(words.join(""));
}
