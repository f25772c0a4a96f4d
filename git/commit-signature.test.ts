import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseAllowedSigners } from "./allowed-signers.ts";
import { verifyCommitSignature } from "./commit-signature.ts";
import signedCommits from "./signed-commits.json" with { type: "json" };
import { sshString } from "./ssh-wire.ts";

/** Made once with git and ssh-keygen. */
const commits = signedCommits.map(({ sha, key, commit }) => ({
  sha,
  key,
  raw: Buffer.from(commit),
  kind: key.split(" ")[0] ?? "",
}));
const [ed25519, otherKind] = commits as [(typeof commits)[number], (typeof commits)[number]];
const committedAt = Date.parse("2026-01-02T03:04:05Z");

const verify = (raw: Buffer, file: string, at = committedAt) =>
  verifyCommitSignature("0123456789", raw, at, parseAllowedSigners(file, "signers"));
const signersOf = (key: string, options = "") => `ann@example.com ${options} ${key}\n`;

describe("a signed commit (S46)", () => {
  it.each(commits)("passes: $kind", ({ raw, key, sha }) => {
    expect(createHash("sha1").update(`commit ${raw.length}\0`).update(raw).digest("hex")).toBe(sha);
    expect(verify(raw, signersOf(key)).principals).toBe("ann@example.com");
  });

  it.each(commits)("does not pass with other content: $kind", ({ raw, key }) => {
    for (const [from, to] of [
      ["Signed by", "Signed bY"],
      ["tree ", "tree 0"],
      ["author Ann", "author Eve"],
      ["+0000\ngpgsig", "+0001\ngpgsig"],
      ["second paragraph\n", "second paragraph"],
    ] as const) {
      const changed = Buffer.from(raw.toString("utf8").replace(from, to));
      expect(changed.equals(raw), from).toBe(false);
      expect(() => verify(changed, signersOf(key)), from).toThrow("its signature does not fit its content");
    }
  });

  it("is not deployed without a signature, or with one of another kind", () => {
    const text = ed25519.raw.toString("utf8");
    const unsigned = text.replace(/gpgsig [^\n]*(?:\n [^\n]*)*\n/, "");
    expect(() => verify(Buffer.from(unsigned), signersOf(ed25519.key))).toThrow(
      "commit 01234567 is not deployed: it is not signed",
    );
    const pgp = text.replace("BEGIN SSH", "BEGIN PGP").replace("END SSH", "END PGP");
    expect(() => verify(Buffer.from(pgp), signersOf(ed25519.key))).toThrow("not of an SSH key");
    const twice = text.replace("gpgsig ", "gpgsig -----BEGIN SSH SIGNATURE-----\n AAAA\n -----END SSH SIGNATURE-----\ngpgsig ");
    expect(() => verify(Buffer.from(twice), signersOf(ed25519.key))).toThrow("not of an SSH key");
  });

  it("is not deployed when the key is not allowed, which is then named", () => {
    expect(() => verify(ed25519.raw, signersOf(otherKind.key))).toThrow(/a key that is not allowed: SHA256:[A-Za-z0-9+/]{43}$/);
  });

  it("with a signature that is cut anywhere is refused and nothing else happens", () => {
    const text = ed25519.raw.toString("utf8");
    const [, encoded = ""] = /SIGNATURE-----\n ([\s\S]*?)\n -----END/.exec(text) ?? [];
    const whole = Buffer.from(encoded, "base64");
    for (let length = 0; length < whole.length; length++) {
      const cut = text.replace(encoded, whole.subarray(0, length).toString("base64"));
      expect(() => verify(Buffer.from(cut), signersOf(ed25519.key)), String(length)).toThrow(/^commit 01234567 is not deployed/);
    }
  });

  it("with a signature whose kind is a word of the language is refused as any other", () => {
    const rsa = commits.find(({ kind }) => kind === "ssh-rsa");
    const blob = Buffer.from(rsa?.key.split(" ")[1] ?? "", "base64");
    const signature = Buffer.concat(["constructor", Buffer.alloc(256)].map(sshString));
    const parts = [blob, "git", "", "sha512", signature].map(sshString);
    const whole = Buffer.concat([Buffer.from("SSHSIG"), Buffer.from([0, 0, 0, 1]), ...parts]).toString("base64");
    const text = ed25519.raw.toString("utf8").replace(/(SIGNATURE-----\n )[\s\S]*?(\n -----END)/, `$1${whole}$2`);
    expect(() => verify(Buffer.from(text), signersOf(rsa?.key ?? ""))).toThrow("its signature does not fit its content");
  });

  it.each([
    ['valid-before="20260102030405Z"', false],
    ['valid-before="20260102030406Z"', true],
    ['valid-after="20260102030405Z"', true],
    ["valid-after=20260103", false],
    ["valid-after=202601020304,valid-before=202601020305", true],
  ])("counts only while its key is valid: %s", (options, valid) => {
    const attempt = () => verify(ed25519.raw, signersOf(ed25519.key, options));
    if (valid) expect(attempt().principals).toBe("ann@example.com");
    else expect(attempt).toThrow("the key of ann@example.com is not valid at the time of the commit");
  });
});

/** What a security key makes, without one: it signs its application, flags and counter with the data. */
function deviceSigned(flags: number, usedFor = "git") {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const kind = "sk-ssh-ed25519@openssh.com";
  const blob = Buffer.concat([kind, point, "ssh:"].map(sshString));
  const unsigned = `tree ${"0".repeat(40)}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nhello\n`;
  const hash = (data: Buffer | string) => createHash("sha256").update(data).digest();
  const envelope = Buffer.concat([Buffer.from("SSHSIG"), ...[usedFor, "", "sha256"].map(sshString), sshString(hash(unsigned))]);
  const added = Buffer.from([flags, 0, 0, 0, 7]);
  const made = sign(null, Buffer.concat([hash("ssh:"), added, hash(envelope)]), privateKey);
  const signature = Buffer.concat([sshString(kind), sshString(made), added]);
  const version = Buffer.from([0, 0, 0, 1]);
  const whole = [Buffer.from("SSHSIG"), version, ...[blob, usedFor, "", "sha256", signature].map(sshString)];
  const armoured = `-----BEGIN SSH SIGNATURE-----\n ${Buffer.concat(whole).toString("base64")}\n -----END SSH SIGNATURE-----`;
  const raw = unsigned.replace("\n\nhello", `\ngpgsig ${armoured}\n\nhello`);
  return { raw: Buffer.from(raw), file: signersOf(`${kind} ${blob.toString("base64")}`) };
}

describe("a signature of a security key", () => {
  it("counts when somebody touched the key", () => {
    const touched = deviceSigned(1);
    expect(verify(touched.raw, touched.file).principals).toBe("ann@example.com");
    const untouched = deviceSigned(0);
    expect(() => verify(untouched.raw, untouched.file)).toThrow("does not fit");
  });

  it("counts only when it was made for git", () => {
    const { raw, file } = deviceSigned(1, "file");
    expect(() => verify(raw, file)).toThrow("made for another use than git");
  });
});

describe("a file of allowed signers", () => {
  const { key } = ed25519;

  it.each([
    ["comments and empty lines", `# ann\n\n${signersOf(key)}`, ["ann@example.com"]],
    ["several names, a comment behind the key, Windows lines", `ann@x,bob@x ${key} her laptop\r\n`, ["ann@x,bob@x"]],
    ["a quoted name", `"Ann A" ${key}`, ["Ann A"]],
    ["a line for git among other uses", signersOf(key, 'namespaces="file,git"'), ["ann@example.com"]],
    ["a line for another use beside one for git", signersOf(key, 'namespaces="file"') + signersOf(key), ["ann@example.com"]],
  ])("may have %s", (_, file, principals) => {
    expect(parseAllowedSigners(file, "signers").map((signer) => signer.principals)).toEqual(principals);
  });

  it.each([
    ["nobody", "# none\n", "names nobody who may sign for git"],
    ["nobody for git", signersOf(key, 'namespaces="file"'), "names nobody who may sign for git"],
    ["no key", `${signersOf(key)}bob@example.com\n`, "line 2: it holds no SSH public key"],
    ["no name", key, "line 1: it begins with the names of the signer"],
    ["a certificate authority", signersOf(key, "cert-authority"), "certificates are not supported"],
    ["an unknown option", signersOf(key, "no-touch-required"), 'the option "no-touch-required" is not known'],
    ["no time", signersOf(key, "valid-after=tomorrow"), '"tomorrow" is no time'],
    ["half a key", signersOf(key.slice(0, 40)), "the key cannot be used: it ends too early"],
    [
      "a key under another name",
      signersOf(key.replace("ssh-ed25519", "ssh-rsa")),
      "of another kind than the word before it says",
    ],
    ["a key of another world", signersOf(`ssh-dss ${sshString("ssh-dss").toString("base64")}`), 'kind "ssh-dss" are not known'],
    ["a short RSA key", signersOf(`ssh-rsa ${shortRsa().toString("base64")}`), "RSA keys need at least 2048 bits"],
  ])("is refused when it has %s", (_, file, message) => {
    expect(() => parseAllowedSigners(file, "signers")).toThrow(message);
  });
});

function shortRsa(): Buffer {
  const jwk = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({ format: "jwk" });
  const number = (text = "") => Buffer.concat([Buffer.alloc(1), Buffer.from(text, "base64url")]);
  return Buffer.concat(["ssh-rsa", number(jwk.e), number(jwk.n)].map(sshString));
}
