import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseKnownHosts } from "./known-hosts.ts";

function wireKey(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), Buffer.from(content)]);
}

const key = wireKey("ssh-ed25519", "one");
const other = wireKey("ssh-ed25519", "two");
const rsa = wireKey("ssh-rsa", "three");
const line = (hosts: string, value = key, type = "ssh-ed25519") => `${hosts} ${type} ${value.toString("base64")} comment`;

function hashed(name: string): string {
  const salt = Buffer.from("12345678901234567890");
  return `|1|${salt.toString("base64")}|${createHmac("sha1", salt).update(name).digest("base64")}`;
}

describe("parseKnownHosts", () => {
  it.each([
    ["a plain name", line("git.example.com"), "git.example.com", 22, "known"],
    ["a name in other letters", line("Git.Example.COM"), "git.EXAMPLE.com", 22, "known"],
    ["one of several names", line("a,git.example.com,10.0.0.1"), "10.0.0.1", 22, "known"],
    ["a name with a port", line("[git.example.com]:2222"), "git.example.com", 2222, "known"],
    ["the wrong port", line("[git.example.com]:2222"), "git.example.com", 22, "unknown"],
    ["a plain name for another port", line("git.example.com"), "git.example.com", 2222, "unknown"],
    ["a hashed name", line(hashed("git.example.com")), "git.example.com", 22, "known"],
    ["a hashed name with a port", line(hashed("[git.example.com]:2222")), "git.example.com", 2222, "known"],
    ["a hash of another name", line(hashed("other")), "git.example.com", 22, "unknown"],
    ["a wildcard", line("*.example.com"), "git.example.com", 22, "known"],
    ["a wildcard of one letter", line("gi?.example.com"), "git.example.com", 22, "known"],
    ["a negation", line("*.example.com,!git.example.com"), "git.example.com", 22, "unknown"],
    ["another key", line("git.example.com", other), "git.example.com", 22, "changed"],
    ["another kind of key", line("git.example.com", rsa, "ssh-rsa"), "git.example.com", 22, "changed"],
    ["a revoked key", `@revoked ${line("git.example.com")}`, "git.example.com", 22, "revoked"],
    ["a key revoked everywhere", `${line("git.example.com")}\n@revoked ${line("*")}`, "git.example.com", 22, "revoked"],
    ["another key revoked", `@revoked ${line("*", other)}\n${line("git.example.com")}`, "git.example.com", 22, "known"],
    ["a certificate authority", `@cert-authority ${line("*")}`, "git.example.com", 22, "unknown"],
    ["a comment", `# ${line("git.example.com")}`, "git.example.com", 22, "unknown"],
    ["an empty file", "", "git.example.com", 22, "unknown"],
    ["half a line", "git.example.com ssh-ed25519", "git.example.com", 22, "unknown"],
    ["a line that contradicts itself", line("git.example.com", key, "ssh-rsa"), "git.example.com", 22, "unknown"],
    [
      "Windows line ends",
      `${line("a")}\r\n${line("git.example.com").replace(" comment", "")}\r\n`,
      "git.example.com",
      22,
      "known",
    ],
  ])("%s", (_, text, host, port, verdict) => {
    expect(parseKnownHosts(text).check(host, port, key)).toBe(verdict);
  });

  it("lists the kinds of keys to ask the server for", () => {
    const hosts = parseKnownHosts([line("h"), line("h", rsa, "ssh-rsa"), line("h", other), line("x", rsa, "ssh-rsa")].join("\n"));
    expect(hosts.keyTypes("h", 22)).toEqual(["ssh-ed25519", "ssh-rsa"]);
    expect(hosts.keyTypes("none", 22)).toEqual([]);
  });
});
