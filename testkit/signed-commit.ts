import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { sshString } from "../git/ssh-wire.ts";

/** Somebody with an ed25519 key of their own who signs commits as `git commit -S` does with `gpg.format ssh`. */
export interface CommitSigner {
  /** Line of a file of allowed signers. */
  readonly allowed: string;
  /** Content of the commit object with the signature put in. */
  sign(raw: string): string;
}

export function createCommitSigner(principal: string): CommitSigner {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const kind = "ssh-ed25519";
  const blob = Buffer.concat([kind, Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")].map(sshString));
  return {
    allowed: `${principal} ${kind} ${blob.toString("base64")}\n`,
    sign(raw) {
      const digest = createHash("sha512").update(raw).digest();
      const head = Buffer.from("SSHSIG");
      const signed = Buffer.concat([head, ...["git", "", "sha512", digest].map(sshString)]);
      const signature = Buffer.concat([kind, sign(null, signed, privateKey)].map(sshString));
      const whole = [head, Buffer.from([0, 0, 0, 1]), ...[blob, "git", "", "sha512", signature].map(sshString)];
      const armoured = Buffer.concat(whole).toString("base64");
      return raw.replace("\n\n", `\ngpgsig -----BEGIN SSH SIGNATURE-----\n ${armoured}\n -----END SSH SIGNATURE-----\n\n`);
    },
  };
}
