import { createHash } from "node:crypto";
import type { AllowedSigner } from "./allowed-signers.ts";
import { GitError } from "./git-error.ts";
import { SshFields, sshString } from "./ssh-wire.ts";

const magic = "SSHSIG";
const armour = /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n*$/;
const namespace = "git";

/**
 * Who signed a commit (S46). Only signatures of SSH keys count; the commit's own content is what they cover, and through its tree and
 * parents everything below it. `committedAt`: ms since the epoch, for keys that are valid for a time.
 *
 * @throws GitError `untrusted`: no signature, one that does not fit, or one of a key that is not allowed
 */
export function verifyCommitSignature(
  sha: string,
  raw: Buffer,
  committedAt: number,
  signers: readonly AllowedSigner[],
): AllowedSigner {
  const untrusted = (why: string): GitError => {
    const hint =
      "sign it with a key of allowed_signers_file (git config gpg.format ssh; git commit -S), or push a signed commit on top";
    return new GitError("untrusted", `commit ${sha.slice(0, 8)} is not deployed: ${why}`, hint);
  };
  const { payload, signature } = splitCommit(raw);
  if (signature === "") throw untrusted("it is not signed");
  const encoded = armour.exec(signature)?.[1];
  if (encoded === undefined) throw untrusted("its signature is not of an SSH key, and no other kind is checked");
  const parts = readSignature(Buffer.from(encoded, "base64"));
  if (parts === undefined) throw untrusted("its signature cannot be read");
  if (parts.namespace !== namespace) throw untrusted("its signature was made for another use than git");
  const known = signers.filter(({ blob }) => blob.equals(parts.key));
  if (known.length === 0) throw untrusted(`it is signed with a key that is not allowed: SHA256:${fingerprint(parts.key)}`);
  const signer = known.find(({ validAfter, validBefore }) => committedAt >= validAfter && committedAt < validBefore);
  if (signer === undefined) throw untrusted(`the key of ${known[0]?.principals ?? ""} is not valid at the time of the commit`);
  if (!fits(signer, parts, payload)) throw untrusted("its signature does not fit its content");
  return signer;
}

interface SignatureParts {
  readonly key: Buffer;
  readonly namespace: string;
  readonly hash: string;
  readonly signature: Buffer;
}

/** The commit as it was before it was signed, and the signature that git put into its header. */
function splitCommit(raw: Buffer): { readonly payload: Buffer; readonly signature: string } {
  // One character a byte, so that nothing is lost whatever the encoding is.
  const text = raw.toString("latin1");
  const end = text.indexOf("\n\n");
  const header = end < 0 ? text : text.slice(0, end);
  let signature = "";
  const kept = header.replace(/^gpgsig(?:-sha256)? [^\n]*(?:\n [^\n]*)*\n?/gm, (field) => {
    if (field.startsWith("gpgsig ")) signature += `${field.slice("gpgsig ".length).trimEnd().replaceAll("\n ", "\n")}\n`;
    return "";
  });
  const rest = end < 0 ? "" : text.slice(end);
  return { payload: Buffer.from(`${kept.replace(/\n$/, "")}${rest}`, "latin1"), signature };
}

function readSignature(bytes: Buffer): SignatureParts | undefined {
  try {
    const fields = new SshFields(bytes);
    if (fields.take(magic.length).toString("latin1") !== magic || fields.number() !== 1) return undefined;
    const key = fields.bytes();
    const usedFor = fields.text();
    fields.bytes();
    const hash = fields.text();
    return /^sha(?:256|512)$/.test(hash) ? { key, namespace: usedFor, hash, signature: fields.bytes() } : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fits(signer: AllowedSigner, { hash, signature }: SignatureParts, payload: Buffer): boolean {
  const digest = createHash(hash).update(payload).digest();
  const signed = Buffer.concat([Buffer.from(magic), ...[namespace, "", hash].map(sshString), sshString(digest)]);
  try {
    return signer.key.verifies(signed, signature);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function fingerprint(key: Buffer): string {
  return createHash("sha256").update(key).digest("base64").replace(/=+$/, "");
}
