import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig } from "./load.ts";

const minimal = "repositories:\n  - url: /srv/jobs\n";
const users = "  local: { users_file: users }\n";
const rules = "  rules: [{ users: ['local:anna'], capabilities: [read] }]\n";

function load(text: string, flags: Readonly<Record<string, string>> = {}) {
  return loadConfig({ file: { name: "nops.yml", text: minimal + text }, environment: {}, flags });
}

function problems(text: string): string[] {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("auth.mode", () => {
  it.each([
    ["", ["token"]],
    ["auth: { mode: token }\n", ["token"]],
    [`auth:\n  mode: local\n${users}${rules}`, ["local"]],
    [`auth:\n  mode: [local, token, local]\n${users}${rules}`, ["local", "token"]],
  ])("of %j is %j", (text, modes) => {
    expect(load(text).auth.mode).toEqual(modes);
  });

  it("is a list with commas in a flag", () => {
    expect(load(`auth:\n${users}${rules}`, { "auth-mode": "local,token" }).auth.mode).toEqual(["local", "token"]);
  });

  it.each([
    ["password", "must be token, local, nomad, oidc, or a list of them"],
    ["[]", "must be token, local, nomad, oidc, or a list of them"],
  ])("of %s is refused in words", (mode, words) => {
    expect(problems(`auth:\n  mode: ${mode}\n`)).toEqual([expect.stringMatching(/^nops\.yml:4:\d+ auth\.mode/)]);
    expect(problems(`auth:\n  mode: ${mode}\n`)[0]).toContain(words);
  });
});

describe("auth.mode oidc", () => {
  const oidc = (issuer: string): string =>
    `auth:\n  mode: oidc\n  oidc: { issuer: '${issuer}', client_id: nops, client_secret_file: s }\n  rules: [{ groups: [ops], users: ['oidc:*'], capabilities: [read] }]\n`;

  it.each([
    [oidc("https://id.example.com"), []],
    [oidc("http://127.0.0.1:9000/realm"), []],
    [oidc("http://id.example.com"), ["must be an https address"]],
    [oidc("id.example.com"), ["must be an https address"]],
    [
      "auth: { mode: oidc, rules: [{ groups: [ops], capabilities: [read] }] }\n",
      ["auth.oidc.issuer: is required", "auth.oidc.client_id: is required", "auth.oidc.client_secret_file: is required"],
    ],
  ])("configured as %j", (text, words) => {
    expect(problems(`${text}http: { public_url: 'https://nops.example.com' }\n`)).toEqual(
      words.map((word) => expect.stringContaining(word)),
    );
  });

  it("needs the public address, to which the provider sends people back (S31)", () => {
    expect(problems(oidc("https://id.example.com"))).toEqual([
      expect.stringContaining('http.public_url: is required with auth.mode "oidc"'),
    ]);
  });
});

describe("logins", () => {
  const local = `auth:\n  mode: local\n${users}${rules}`;

  it.each([
    ["http: { public_url: 'https://nops.example.com', listen: '0.0.0.0:80' }\n", true],
    ["http: { listen: '127.0.0.1:80' }\n", true],
    ["http: { listen: '[::1]:80', public_url: 'http://localhost:80' }\n", true],
    ["http: { listen: '0.0.0.0:80' }\n", false],
    ["http: { listen: '127.0.0.1:80', public_url: 'http://nops.example.com' }\n", false],
    ["http: { listen: '0.0.0.0:80', public_url: 'http://localhost' }\n", false],
  ])("with %s are safe from listeners: %s (S23)", (http, safe) => {
    expect(problems(local + http)).toEqual(
      safe ? [] : [expect.stringContaining("people log in by https only, or on this machine")],
    );
  });

  it.each([
    [`auth:\n  mode: local\n${rules}`, 'auth.local.users_file: is required with auth.mode "local"'],
    [`auth:\n${users}`, 'auth.local.users_file: is set, but auth.mode does not name "local"'],
    [`auth:\n  mode: local\n${users}`, "auth.rules: is required: without a rule nobody who logs in may do anything"],
    [
      `auth:\n  mode: local\n  bootstrap_token_file: t\n${users}${rules}`,
      'auth.bootstrap_token_file: is a token, and auth.mode does not name "token"',
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ capabilities: [read] }]\n`,
      "auth.rules.0: names nobody: it needs users, groups or nomad_policies",
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ users: [anna], capabilities: [read] }]\n`,
      'auth.rules.0.users.0: "anna" is no METHOD:NAME',
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ users: ['oidc:anna'], capabilities: [read] }]\n`,
      '"oidc:anna" is no METHOD:NAME of somebody who can log in (methods: local)',
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ users: ['local:a'], capabilities: [write] }]\n`,
      "auth.rules.0.capabilities.0: must be one of read, approve",
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ users: ['local:a'], capabilities: [read], namespace: [x] }]\n`,
      '(did you mean "namespaces"?)',
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ users: ['local:a'], capabilities: [read], namespaces: ['{a'] }]\n`,
      "auth.rules.0.namespaces.0: is no pattern of namespaces",
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ nomad_policies: [ops], capabilities: [read] }]\n`,
      "auth.rules.0.nomad_policies: is for people with a Nomad token",
    ],
    [
      `auth:\n  mode: local\n${users}  rules: [{ groups: [ops], capabilities: [read] }]\n`,
      "auth.rules.0.groups: is for people of an OIDC provider",
    ],
    ["auth: { oidc: { client_id: x } }\n", 'auth.oidc.client_id: is set, but auth.mode does not name "oidc"'],
    ["http: { trusted_proxies: [10.0.0.0/8, proxy] }\n", 'http.trusted_proxies.1: "proxy" is no address and no network'],
  ])("configured as %j are refused", (text, words) => {
    expect(problems(text)).toEqual([expect.stringContaining(words)]);
  });
});
