/** What stands in place of a secret. Constant, so that two secrets cannot be told apart (reliability S01). */
export const redactedMarker = "<redacted>";

const words = [
  "password",
  "passwd",
  "passphrase",
  "pwd",
  "token",
  "secret",
  "auth",
  "credential",
  "privatekey",
  "apikey",
  "accesskey",
  "encryptionkey",
  "dsn",
  "connectionstring",
];

/** Whether a name says that its value is secret: lower case without `-` and `_`, one of the words inside (operator §17). */
export function isSecretName(name: string): boolean {
  // Nomad's size of the secrets folder is a number of megabytes, and an approver should see it.
  if (name === "SecretsMB") return false;
  const plain = name.toLowerCase().replace(/[-_]/g, "");
  return words.some((word) => plain.includes(word));
}

const textWords =
  "password|passwd|passphrase|pwd|token|secret|credential|private[-_]?key|api[-_]?key|access[-_]?key|encryption[-_]?key|dsn|connection[-_]?string";

const secretFlag = new RegExp(`^--?[\\w.-]*(?:${textWords})[\\w.-]*$`, "i");

/** A flag such as `--db-password`, whose value is the next word. */
export function isSecretFlag(text: string): boolean {
  if (!text.startsWith("-") || text.length > 80) return false;
  // `--token-file` names a file, and what follows is its path or the next word of a sentence.
  return !/[-_](?:file|path)$/i.test(text) && secretFlag.test(text);
}

type Rule = readonly [RegExp, string];

// Every quantifier is bounded or anchored by a character that cannot repeat inside, so that no text takes quadratic time.
const rules: readonly Rule[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, redactedMarker],
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#'"<>@]{0,512}(?:@[^\s/?#'"<>@]{0,512}){0,4}@(?=[^\s])/gi, `$1${redactedMarker}@`],
  [/\b(authorization["']?\s{0,3}[:=]\s{0,3}["']?)(?:(?:bearer|basic|token)\s{1,3})?[^\s"',;]{1,4096}/gi, `$1${redactedMarker}`],
  [/\b(bearer|basic)(\s{1,3})[\w.~+/=-]{8,4096}/gi, `$1$2${redactedMarker}`],
  [
    new RegExp(
      `((?:--?)?(?<![\\w.-])[\\w.-]{0,60}(?:${textWords})[\\w.-]{0,40}["'\\]]{0,2}\\s{0,3}(?:=|:(?!:))\\s{0,3})("[^"\\n]{1,4096}"|'[^'\\n]{1,4096}'|[^\\s,;"'&)}\\]]{1,4096})`,
      "gi",
    ),
    `$1${redactedMarker}`,
  ],
  [
    new RegExp(
      `((?<![\\w-])--?[\\w.-]{0,60}(?:${textWords})[\\w.-]{0,40}(?<![-_](?:file|path))["']?[\\s,]{1,3}["']?)(?!--?[a-z])([^\\s,;"'\\]]{1,4096})`,
      "gi",
    ),
    `$1${redactedMarker}`,
  ],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,64}|xox[abprs]-[\w-]{10,200})/g, redactedMarker],
  [
    /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bhv[sbr]\.[\w-]{20,500}|\bsk_(?:live|test)_\w{10,200}|\bnpm_[A-Za-z0-9]{30,60}\b/g,
    redactedMarker,
  ],
  [/\beyJ[\w-]{8,8192}\.eyJ[\w-]{4,8192}\.[\w-]{0,8192}/g, redactedMarker],
];

/** Masks what looks like a secret by its form: credentials in URLs, `name=value` with a telling name, known kinds of tokens. */
export function maskPatterns(text: string): string {
  let result = text;
  for (const [pattern, replacement] of rules) result = result.replace(pattern, replacement);
  return result;
}

/** User name and password inside URLs of a text. */
export function urlCredentials(text: string): string[] {
  if (!text.includes("://")) return [];
  const found: string[] = [];
  for (const [, userInfo = ""] of text.matchAll(/[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#'"<>]{1,1024})@/gi)) {
    const colon = userInfo.indexOf(":");
    const password = colon < 0 ? userInfo : userInfo.slice(colon + 1);
    if (password !== "" && !password.includes("${")) found.push(password, safeDecode(password));
  }
  return found;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Whether a value whose name says nothing is particular enough to be hidden wherever it turns up. Plain words, numbers,
 * paths, and references would mask half of every text without hiding anything.
 */
export function isDistinctive(value: string): boolean {
  if (value.length < 8 || /^\$\{[^}]*\}$/.test(value)) return false;
  if (/^[\d.:,_-]*$/.test(value) || /^\/[\w./-]*$/.test(value) || /^[a-z][a-z0-9+.-]{0,30}:\/\//i.test(value)) return false;
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^\w\s]|_/].filter((one) => one.test(value)).length;
  return classes >= 2 || value.length >= 24;
}
