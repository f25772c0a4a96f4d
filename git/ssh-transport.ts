import { createConnection } from "node:net";
import type { Client, ClientChannel, ServerHostKeyAlgorithm } from "ssh2";
import { guardedLookup, isRefusedAddress, refusedAddressCode } from "./address.ts";
import { createDuplexTransport, type UploadPackStream } from "./duplex-transport.ts";
import { GitError, quoteRemote } from "./git-error.ts";
import { type HostKeyVerdict, parseKnownHosts } from "./known-hosts.ts";
import type { GitLimits } from "./limits.ts";
import type { Transport } from "./transport.ts";

export interface SshTransportOptions {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly display: string;
  /** Content of the key file, unencrypted. */
  readonly privateKey: string;
  readonly keyFile: string;
  /** Content of the known_hosts file. */
  readonly knownHosts: string;
  readonly knownHostsFile: string;
  readonly limits: GitLimits;
  readonly signal: AbortSignal;
}

const algorithms: Readonly<Record<string, readonly ServerHostKeyAlgorithm[]>> = {
  "ssh-ed25519": ["ssh-ed25519"],
  "ecdsa-sha2-nistp256": ["ecdsa-sha2-nistp256"],
  "ecdsa-sha2-nistp384": ["ecdsa-sha2-nistp384"],
  "ecdsa-sha2-nistp521": ["ecdsa-sha2-nistp521"],
  "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256"],
};

/**
 * Git over ssh without a git or ssh program: one `git-upload-pack` on the server. The server's key must be in the known_hosts
 * file; there is no first-use trust. Only key authentication; no agent, no configuration of the machine.
 */
export function createSshTransport(options: SshTransportOptions): Transport {
  return createDuplexTransport({
    where: options.display,
    limits: options.limits,
    open: () => open(options),
    explain: (errorText, error) => explainStream(options, errorText, error),
  });
}

async function open(options: SshTransportOptions): Promise<UploadPackStream> {
  if (options.signal.aborted) throw new GitError("aborted", `reading ${options.display} was given up`);
  const { default: ssh2 } = await import("ssh2");
  const key = ssh2.utils.parseKey(options.privateKey);
  if (key instanceof Error) throw badKey(options, key);
  const client = new ssh2.Client();
  // Nobody may be listening any more when a closed connection reports its end.
  client.on("error", () => undefined);
  const state: ConnectionState = { verdict: undefined, reason: undefined };
  const abort = () => end(client, state, new GitError("aborted", `reading ${options.display} was given up`));
  options.signal.addEventListener("abort", abort, { once: true });
  client.once("close", () => options.signal.removeEventListener("abort", abort));
  try {
    await connect(client, options, state);
    const stream = await execute(client, options);
    return watch(client, stream, state);
  } catch (error) {
    client.destroy();
    throw state.reason ?? explainConnection(options, state.verdict, error);
  }
}

interface ConnectionState {
  verdict: HostKeyVerdict | undefined;
  /** Why we ended the connection ourselves. */
  reason: GitError | undefined;
}

function end(client: Client, state: ConnectionState, reason: GitError): void {
  state.reason ??= reason;
  client.destroy();
}

function connect(client: Client, options: SshTransportOptions, state: ConnectionState): Promise<void> {
  const { host, port, user, limits } = options;
  const known = parseKnownHosts(options.knownHosts);
  const types = known.keyTypes(host, port).flatMap((type) => algorithms[type] ?? []);
  if (isRefusedAddress(host)) throw Object.assign(new Error(host), { code: refusedAddressCode });
  return new Promise((resolve, reject) => {
    const sock = createConnection({ host, port, lookup: guardedLookup });
    client.once("timeout", () => {
      end(client, state, silent(options));
      sock.destroy();
    });
    client.once("ready", resolve);
    client.once("error", reject);
    client.once("close", () => reject(state.reason ?? new Error("the server closed the connection")));
    client.connect({
      sock,
      username: user,
      privateKey: options.privateKey,
      readyTimeout: limits.idleMs,
      timeout: limits.idleMs,
      // The server is asked for a kind of key that the file lists; else it would offer another one, which looks like a change.
      ...(types.length === 0 ? {} : { algorithms: { serverHostKey: types } }),
      hostVerifier: (key: Buffer) => {
        state.verdict = known.check(host, port, key);
        return state.verdict === "known";
      },
    });
  });
}

function silent({ display, limits }: SshTransportOptions): GitError {
  return new GitError("timeout", `${display} was silent for ${limits.idleMs / 1000} s`, "nops tries again by itself");
}

function execute(client: Client, { path }: SshTransportOptions): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const quoted = path.startsWith("~") ? quoteHome(path) : quote(path);
    client.exec(`git-upload-pack ${quoted}`, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Leaves the home part to the server's shell, which would not resolve it within quotes. */
function quoteHome(path: string): string {
  const [, home = "", rest = ""] = /^(~[A-Za-z0-9_.-]*)(.*)$/s.exec(path) ?? [];
  return rest === "" ? home : `${home}${quote(rest)}`;
}

function watch(client: Client, stream: ClientChannel, state: ConnectionState): UploadPackStream {
  let text = "";
  stream.stderr.on("data", (chunk: Buffer) => {
    if (text.length < 2_000) text += chunk.toString("utf8");
  });
  client.on("close", () => stream.destroy());
  return { stream, errorText: () => text, brokenBy: () => state.reason, close: () => client.destroy() };
}

function badKey({ keyFile }: SshTransportOptions, error: Error): GitError {
  const encrypted = /encrypt|passphrase/i.test(error.message);
  const why = encrypted ? "is protected by a passphrase, which nops cannot ask for" : "is no private key that can be used";
  return new GitError(
    "configuration",
    `the ssh key file ${keyFile} ${why}`,
    "give nops a key of its own: ssh-keygen -t ed25519 -N '' -f FILE",
  );
}

function explainConnection(options: SshTransportOptions, verdict: HostKeyVerdict | undefined, error: unknown): GitError {
  const { display, host, port, knownHostsFile, keyFile } = options;
  const scan = `ssh-keyscan ${port === 22 ? "" : `-p ${port} `}${host}`;
  if (verdict === "revoked") return new GitError("host_key", `${display} shows a key that ${knownHostsFile} marks as revoked`);
  if (verdict === "changed") {
    const hint = "somebody may stand between; if the server's key was changed on purpose, put the new one into the file";
    return new GitError("host_key", `${display} shows another key than the one in ${knownHostsFile}`, hint);
  }
  if (verdict === "unknown") {
    return new GitError(
      "host_key",
      `${display} is not in ${knownHostsFile}`,
      `add its key and compare it with the forge's own statement: ${scan}`,
    );
  }
  if (error instanceof GitError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const level = error instanceof Error && "level" in error ? String(error.level) : "";
  const message = error instanceof Error ? error.message : String(error);
  if (code === refusedAddressCode) {
    return new GitError(
      "configuration",
      `${display} leads to a link-local, metadata or unusable address, which nops does not contact`,
      "check the URL",
    );
  }
  if (level === "client-timeout") return silent(options);
  if (level === "client-authentication") {
    return new GitError(
      "not_permitted",
      `${display} does not accept the key of ${keyFile}`,
      "add its public part to the repository's deploy keys",
    );
  }
  if (/no matching/i.test(message)) {
    const hint = `the server may have no key of a kind that ${knownHostsFile} lists: ${scan}`;
    return new GitError("host_key", `${display} and nops agree on no method: ${quoteRemote(message)}`, hint);
  }
  return new GitError("unreachable", `${display} cannot be reached: ${quoteRemote(message)}`, "nops tries again by itself");
}

function explainStream({ display, signal }: SshTransportOptions, errorText: string, error: unknown): GitError {
  if (error instanceof GitError) return error;
  if (signal.aborted) return new GitError("aborted", `reading ${display} was given up`);
  const text = quoteRemote(errorText);
  if (/not appear to be a git repository|not found|does not exist|no such/i.test(text)) {
    return new GitError(
      "not_found",
      `${display} does not exist, or not for this key: ${text}`,
      "check the URL and the rights of the key",
    );
  }
  if (/denied|permission|not authori[sz]ed|forbidden/i.test(text)) {
    return new GitError("not_permitted", `${display} may not be read with this key: ${text}`, "check the rights of the key");
  }
  const why = text === "" ? "the server closed the connection" : text;
  return new GitError("unreachable", `reading ${display} failed: ${why}`, "nops tries again by itself");
}
