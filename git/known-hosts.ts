import { createHmac } from "node:crypto";

/** What a known_hosts file says about a server's key. */
export type HostKeyVerdict =
  /** The key is listed for the host. */
  | "known"
  /** The key is marked `@revoked`. */
  | "revoked"
  /** Other keys are listed for the host: it was changed, or somebody stands between. */
  | "changed"
  /** The host is not in the file. */
  | "unknown";

interface Line {
  readonly hosts: string;
  readonly revoked: boolean;
  readonly type: string;
  readonly key: Buffer;
}

/** A known_hosts file as OpenSSH writes it: plain, hashed, with ports, wildcards and negations. Certificates are passed over. */
export interface KnownHosts {
  /** @param key as it comes from the server, in SSH's wire form. */
  check(host: string, port: number, key: Buffer): HostKeyVerdict;
  /** Kinds of keys listed for the host, so that the server can be asked for one of them. */
  keyTypes(host: string, port: number): readonly string[];
}

/** Reads a known_hosts file. Lines that make no sense are passed over, as OpenSSH does. */
export function parseKnownHosts(text: string): KnownHosts {
  const lines = text.split(/\r?\n/).flatMap(parseLine);
  const linesOf = (host: string, port: number) => lines.filter((line) => matchesHost(line.hosts, hostName(host, port)));
  return {
    check(host, port, key) {
      const found = linesOf(host, port);
      if (found.some((line) => line.revoked && line.key.equals(key))) return "revoked";
      const trusted = found.filter((line) => !line.revoked);
      if (trusted.some((line) => line.key.equals(key))) return "known";
      return trusted.length > 0 ? "changed" : "unknown";
    },
    keyTypes(host, port) {
      const trusted = linesOf(host, port).filter((line) => !line.revoked);
      return [...new Set(trusted.map(({ type }) => type))];
    },
  };
}

/** The name under which OpenSSH files a host. */
function hostName(host: string, port: number): string {
  const name = host.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
}

function parseLine(text: string): readonly Line[] {
  const parts = text.trim().split(/[ \t]+/);
  if (parts[0] === undefined || parts[0] === "" || parts[0].startsWith("#")) return [];
  const marker = parts[0].startsWith("@") ? parts.shift() : undefined;
  const [hosts, type, encoded] = parts;
  if (hosts === undefined || type === undefined || encoded === undefined) return [];
  if (marker !== undefined && marker !== "@revoked") return [];
  const key = Buffer.from(encoded, "base64");
  // The wire form repeats the kind; a line that contradicts itself is broken.
  if (key.length < 4 || key.toString("latin1", 4, 4 + key.readUInt32BE(0)) !== type) return [];
  return [{ hosts, revoked: marker !== undefined, type, key }];
}

function matchesHost(hosts: string, name: string): boolean {
  if (hosts.startsWith("|1|")) {
    const [, , salt, hash] = hosts.split("|");
    if (salt === undefined || hash === undefined) return false;
    return createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest("base64") === hash;
  }
  let found = false;
  for (const pattern of hosts.toLowerCase().split(",")) {
    const negated = pattern.startsWith("!");
    if (!matchesPattern(negated ? pattern.slice(1) : pattern, name)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

/** `*` and `?` over the whole name, brackets being literal; without backtracking over more than the last star. */
function matchesPattern(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let mark = 0;
  let position = 0;
  while (position < name.length) {
    const char = pattern[at];
    if (char === "*") {
      star = at++;
      mark = position;
    } else if (char === "?" || (char !== undefined && char === name[position])) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++mark;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
