import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidRequestError } from "../model/errors.ts";
import { parseRepositoryUrl } from "./url.ts";

describe("parseRepositoryUrl", () => {
  it.each([
    ["https://git.example.com/ops/jobs.git", "https://git.example.com/ops/jobs.git"],
    ["HTTPS://git.example.com/ops/jobs/", "https://git.example.com/ops/jobs"],
    ["http://127.0.0.1:3000/a", "http://127.0.0.1:3000/a"],
    ["https://[2001:db8::1]:8443/a", "https://[2001:db8::1]:8443/a"],
  ])("takes %s as http", (text, url) => {
    expect(parseRepositoryUrl(text)).toMatchObject({ kind: "http", url, display: url, username: undefined });
  });

  it("takes the user part apart and never shows it (S04)", () => {
    const location = parseRepositoryUrl("https://user:s3cr%40t@git.example.com/a.git");
    expect(location).toEqual({
      kind: "http",
      url: "https://git.example.com/a.git",
      secure: true,
      username: "user",
      password: "s3cr@t",
      display: "https://git.example.com/a.git",
    });
  });

  it.each([
    ["ssh://git@git.example.com/ops/jobs.git", { user: "git", host: "git.example.com", port: 22, path: "/ops/jobs.git" }],
    ["ssh://git.example.com:2222/ops", { user: "git", host: "git.example.com", port: 2222, path: "/ops" }],
    ["ssh://ann@[2001:db8::1]/~/x", { user: "ann", host: "2001:db8::1", port: 22, path: "~/x" }],
    ["git@git.example.com:ops/jobs.git", { user: "git", host: "git.example.com", port: 22, path: "ops/jobs.git" }],
    ["host:x", { user: "git", host: "host", port: 22, path: "x" }],
  ])("takes %s as ssh", (text, expected) => {
    expect(parseRepositoryUrl(text)).toMatchObject({ kind: "ssh", ...expected });
  });

  it("shows an ssh location without its user", () => {
    expect(parseRepositoryUrl("ssh://ann@h:2222/ops").display).toBe("ssh://h:2222/ops");
  });

  it.each([
    ["/srv/git/jobs.git", "/srv/git/jobs.git"],
    ["file:///srv/git/jobs%20x.git", "/srv/git/jobs x.git"],
    ["file://localhost/srv", "/srv"],
    ["./jobs", resolve("jobs")],
    ["jobs/a:b", resolve("jobs/a:b")],
  ])("takes %s as a path", (text, path) => {
    expect(parseRepositoryUrl(text)).toEqual({ kind: "local", path, display: path });
  });

  it.each([
    ["ext::sh -c id", "run a program"],
    ["fd::7", "run a program"],
    ["--upload-pack=id", "hyphen"],
    ["-oProxyCommand=x", "hyphen"],
    ["ssh://-oProxyCommand=x/a", "host name"],
    ["ssh://git@host/-x".replace("/-x", ""), "no repository"],
    ["-x@host:a", "hyphen"],
    ["a@-host:b", "host name"],
    ["git@host:-x", "hyphen"],
    ["git@host:", "no repository"],
    ["ssh://user:pw@host/a", "no password"],
    ["git://host/a", '"git" is not supported'],
    ["ftp://host/a", '"ftp" is not supported'],
    ["javascript://x/a", '"javascript" is not supported'],
    ["socks5://$(id)@h", '"socks5" is not supported'],
    ["http://169.254.169.254/latest", "metadata"],
    ["http://2852039166/latest", "metadata"],
    ["http://0xa9.0xfe.0xa9.0xfe/latest", "metadata"],
    ["http://[::ffff:169.254.169.254]/x", "metadata"],
    ["http://[fe80::1]/x", "metadata"],
    ["http://[fd00:ec2::254]/x", "metadata"],
    ["http://0.0.0.0/x", "unusable"],
    ["ssh://169.254.1.1/x", "link-local"],
    ["https://host/a?private_token=x", "query"],
    ["https://host/a#x", "query or fragment"],
    ["https://host", "no repository"],
    ["https:///", "malformed"],
    ["file://other/srv", "no host"],
    ["", "empty"],
    ["  ", "empty"],
    ["https://host/a\nb", "control character"],
    ["/srv/\u0000x", "control character"],
  ])("refuses %j (S44)", (text, why) => {
    expect(() => parseRepositoryUrl(text)).toThrow(InvalidRequestError);
    expect(() => parseRepositoryUrl(text)).toThrow(why);
  });

  it("never throws anything else, and never shows a password", () => {
    const part = fc.constantFrom("https://", "ssh://", "file://", "::", "@", ":", "/", "-", "[", "%", "..", "host", "canary7");
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 3 })), { maxLength: 10 }), (parts) => {
        try {
          parseRepositoryUrl(parts.join(""));
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRequestError);
        }
      }),
      { numRuns: 2_000 },
    );
    for (const text of [
      "https://u:canary7@169.254.1.1/a",
      "ftp://u:canary7@h/a",
      "ssh://u:canary7@h/a",
      "https://u:canary7@h/a?x",
    ]) {
      expect(() => parseRepositoryUrl(text)).toThrow(/^(?!.*canary7)/s);
    }
  });
});
