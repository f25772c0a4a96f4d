import { GitError } from "./git-error.ts";
import { readSshPublicKey, type SshPublicKey } from "./ssh-public-key.ts";

/** Somebody whose signature counts, as OpenSSH's file of allowed signers names them. */
export interface AllowedSigner {
  /** Names, mostly mail addresses; only shown. */
  readonly principals: string;
  /** The key in SSH's binary form. */
  readonly blob: Buffer;
  readonly key: SshPublicKey;
  /** ms since the epoch; the key counts for commits made from here… */
  readonly validAfter: number;
  /** …to here. */
  readonly validBefore: number;
}

/**
 * The signers of a file in the form that `ssh-keygen` and git use (`gpg.ssh.allowedSignersFile`): `principals [options] kind key`.
 * Lines for other uses than git are passed over.
 * @throws GitError `configuration` naming the line that cannot be used
 */
export function parseAllowedSigners(text: string, file: string): readonly AllowedSigner[] {
  const signers = text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return [];
    const wrong = (why: string): GitError =>
      new GitError(
        "configuration",
        `allowed_signers_file ${file}, line ${index + 1}: ${why}`,
        "see ALLOWED SIGNERS in ssh-keygen(1)",
      );
    return parseLine(line.trim(), wrong);
  });
  if (signers.length === 0) throw new GitError("configuration", `allowed_signers_file ${file} names nobody who may sign for git`);
  return signers;
}

const keyKinds = /(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+)\s+([A-Za-z0-9+/]+={0,2})(?:\s|$)/;

function parseLine(line: string, wrong: (why: string) => GitError): AllowedSigner[] {
  const found = keyKinds.exec(line);
  if (found === null) throw wrong("it holds no SSH public key");
  const [, kind, encoded = ""] = found;
  const words = line.slice(0, found.index).match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  const [principals, ...optionWords] = words;
  if (principals === undefined) throw wrong("it begins with the names of the signer");
  const options = optionsOf(optionWords.join(","), wrong);
  if (options.has("cert-authority")) throw wrong("certificates are not supported, only keys");
  const namespaces = options.get("namespaces");
  if (namespaces !== undefined && !namespaces.split(",").some((each) => each === "git" || each === "*")) return [];
  const blob = Buffer.from(encoded, "base64");
  return [
    {
      principals: principals.replaceAll('"', ""),
      blob,
      key: readKey(blob, kind, wrong),
      validAfter: timeOf(options.get("valid-after"), wrong) ?? Number.NEGATIVE_INFINITY,
      validBefore: timeOf(options.get("valid-before"), wrong) ?? Number.POSITIVE_INFINITY,
    },
  ];
}

function readKey(blob: Buffer, kind: string | undefined, wrong: (why: string) => GitError): SshPublicKey {
  try {
    const key = readSshPublicKey(blob);
    if (key.kind === kind) return key;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw wrong(`the key cannot be used: ${error.message}`);
  }
  throw wrong("the key is of another kind than the word before it says");
}

function optionsOf(text: string, wrong: (why: string) => GitError): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  for (const option of text.match(/(?:[^,"]|"[^"]*")+/g) ?? []) {
    const [name = "", ...value] = option.split("=");
    if (!/^(?:cert-authority|namespaces|valid-after|valid-before)$/i.test(name)) throw wrong(`the option "${name}" is not known`);
    options.set(name.toLowerCase(), value.join("=").replaceAll('"', ""));
  }
  return options;
}

/** `YYYYMMDD[Z]` or `YYYYMMDDHHMM[SS][Z]`. Without a Z OpenSSH takes the machine's time zone; here it is always UTC. */
function timeOf(text: string | undefined, wrong: (why: string) => GitError): number | undefined {
  if (text === undefined) return undefined;
  const found = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?Z?$/.exec(text);
  const [, year, month, day, hour = "00", minute = "00", second = "00"] = found ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time)) throw wrong(`"${text}" is no time such as 20261231 or 202612312359`);
  return time;
}
