import { describe, expect, it } from "vitest";
import { ConfigError, type ConfigInput, loadConfig } from "./load.ts";
import { configJsonSchema, fileOnlyKeys, scalarOptions } from "./options.ts";

const minimal = "repositories:\n  - name: main\n    url: https://git.example.com/jobs.git\n";

function load(text: string, input: Partial<ConfigInput> = {}) {
  return loadConfig({ file: { name: "nops.yml", text }, environment: {}, flags: {}, ...input });
}

function problems(text: string, input: Partial<ConfigInput> = {}): string[] {
  try {
    load(text, input);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("defaults and precedence", () => {
  it("fills in the defaults of the contract, durations in ms", () => {
    expect(load(minimal)).toMatchObject({
      data_dir: "./data",
      nomad: { address: "http://127.0.0.1:4646", namespaces: ["default"] },
      repositories: [{ branch: "main", poll_interval: 60_000, default_policy: "none", managed: "meta", username: "git" }],
      http: { listen: "127.0.0.1:8080" },
      approval: { required: 1, author_may_approve: true, min_policy: {} },
      engine: {
        resync_interval: 600_000,
        replan_interval: 3_600_000,
        apply_timeout: 600_000,
        hook_timeout: 300_000,
        concurrency: 16,
      },
      windows: { time_zone: "UTC" },
      log: { level: "info", format: "json" },
    });
  });

  it("lets flag beat variable beat file beat default", () => {
    const text = `${minimal}http:\n  listen: 127.0.0.1:1\n`;
    const environment = { NOPS_HTTP_LISTEN: "127.0.0.1:2" };
    expect(load(text).http.listen).toBe("127.0.0.1:1");
    expect(load(text, { environment }).http.listen).toBe("127.0.0.1:2");
    expect(load(text, { environment, flags: { listen: "127.0.0.1:3" } }).http.listen).toBe("127.0.0.1:3");
    expect(load(text, { environment, flags: { "http-listen": "127.0.0.1:4" } }).http.listen).toBe("127.0.0.1:4");
  });

  it("counts an empty variable as unset", () => {
    expect(load(minimal, { environment: { NOPS_HTTP_LISTEN: "" } }).http.listen).toBe("127.0.0.1:8080");
  });

  it("takes one repository from the short flags alone", () => {
    const config = loadConfig({
      environment: {},
      flags: { "git-url": "/srv/jobs", "git-branch": "prod", "nomad-addr": "http://127.0.0.1:9", "nomad-namespaces": "a, b" },
    });
    expect(config.repositories).toMatchObject([{ name: "main", url: "/srv/jobs", branch: "prod" }]);
    expect(config.nomad).toMatchObject({ address: "http://127.0.0.1:9", namespaces: ["a", "b"] });
  });

  it("honours NOMAD_ADDR but not what Nomad sets inside a task", () => {
    const config = load(minimal, {
      environment: { NOMAD_ADDR: "http://127.0.0.1:7", NOMAD_NAMESPACE: "other", NOMAD_REGION: "eu" },
    });
    expect(config.nomad).toMatchObject({ address: "http://127.0.0.1:7", namespaces: ["default"] });
    expect(config.nomad.region).toBeUndefined();
  });

  it("is frozen through and through", () => {
    const config = load(minimal);
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.repositories[0])).toBe(true);
  });
});

describe("problems", () => {
  it.each<[string, string, string]>([
    [
      "an unknown key, with a suggestion",
      `${minimal}htpp:\n  listen: x\n`,
      'nops.yml:4:1 htpp: unknown key (did you mean "http"?)',
    ],
    [
      "an unknown key below a section",
      `${minimal}engine:\n  concurency: 3\n`,
      'nops.yml:5:3 engine.concurency: unknown key (did you mean "concurrency"?)',
    ],
    [
      "an unknown key of a repository",
      `${minimal}    brnch: x\n`,
      'nops.yml:4:5 repositories.0.brnch: unknown key (did you mean "branch"?)',
    ],
    [
      "a wrong type",
      `${minimal}engine:\n  concurrency: many\n`,
      "nops.yml:5:3 engine.concurrency: must be a number, not a string",
    ],
    [
      "a bad duration",
      `${minimal}engine:\n  apply_timeout: 10 minutes\n`,
      'nops.yml:5:3 engine.apply_timeout: must be a positive duration such as "90s" or "1h30m"',
    ],
    [
      "a zero duration",
      `${minimal}engine:\n  apply_timeout: 0s\n`,
      'nops.yml:5:3 engine.apply_timeout: must be a positive duration such as "90s" or "1h30m"',
    ],
    [
      "a bad zone",
      `${minimal}windows:\n  time_zone: Mars\n`,
      "nops.yml:5:3 windows.time_zone: must be an IANA time zone such as Europe/Rome",
    ],
    ["a missing URL", "repositories:\n  - name: main\n", "nops.yml:2:5 repositories.0.url: is required"],
    ["no repository", "{}\n", "nops.yml repositories: at least one repository is needed (--git-url names one)"],
    [
      "a duration without a unit",
      `${minimal}engine:\n  apply_timeout: 90\n`,
      'nops.yml:5:3 engine.apply_timeout: must be a duration such as "90s" or "1h30m", not a number',
    ],
    ["ssh without known hosts", `${minimal}    ssh_key_file: k\n`, "known_hosts_file: is required with ssh_key_file"],
    ["a namespace nobody named", `${minimal}    namespaces: [prod]\n`, '"prod" is not among nomad.namespaces'],
    ["a name used twice", `${minimal}  - name: main\n    url: https://x/y\n`, '"main" is used twice'],
    [
      "anonymous reading beyond loopback",
      `${minimal}auth:\n  anonymous_read: true\nhttp:\n  listen: 0.0.0.0:80\n`,
      "is allowed only while http.listen is a loopback address",
    ],
    [
      "mail without a sender",
      `${minimal}notifications:\n  - type: email\n    url_file: u\n    to: [ops@example.com]\n`,
      "nops.yml:5:5 notifications.0.from: is needed for email",
    ],
    [
      "mail to nobody",
      `${minimal}notifications:\n  - type: email\n    url_file: u\n    from: nops@example.com\n`,
      "notifications.0.to: is needed for email",
    ],
    [
      "a mail address with more in it",
      `${minimal}notifications:\n  - type: email\n    url_file: u\n    from: nops@example.com\n    to: ["a@b, c@d"]\n`,
      "notifications.0.to.0: must be a mail address such as ops@example.com",
    ],
    [
      "a mail address of a receiver that takes none",
      `${minimal}notifications:\n  - type: slack\n    url_file: u\n    to: [ops@example.com]\n`,
      "notifications.0.to: is for email only",
    ],
    [
      "a token of a mail server",
      `${minimal}notifications:\n  - type: email\n    url_file: u\n    token_file: t\n    from: a@b\n    to: [c@d]\n`,
      "notifications.0.token_file: is not for email",
    ],
    ["a duplicate key (S66)", `${minimal}data_dir: a\ndata_dir: b\n`, "nops.yml:5:1"],
    ["a prototype key (S65)", `${minimal}__proto__:\n  a: 1\n`, "__proto__: unknown key"],
    ["text that is no map", "- a\n", "nops.yml:1:1: must hold keys and values"],
  ])("names %s", (_name, text, expected) => {
    expect(problems(text).join("\n")).toContain(expected);
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });

  it("reports all of them at once, each with its own source", () => {
    const found = problems("repositories: []\nlog:\n  level: loud\n", {
      environment: { NOPS_HTTP_LISTEN: "nowhere" },
      flags: { "engine-concurrency": "x" },
    });
    expect(found).toHaveLength(4);
    expect(found.join("\n")).toMatch(/--engine-concurrency: must be a whole number/);
    expect(found.join("\n")).toMatch(/NOPS_HTTP_LISTEN http\.listen: must be HOST:PORT/);
    expect(found.join("\n")).toMatch(/nops\.yml:3:3 log\.level: /);
  });

  it("refuses an alias bomb, a huge file and nonsense without delay (S66)", () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x]\n${"bcdefgh"
      .split("")
      .map((name, index) => `${name}: &${name} [${Array(8).fill(`*${"abcdefg"[index]}`).join(",")}]`)
      .join("\n")}\n`;
    expect(problems(bomb).length).toBeGreaterThan(0);
    expect(problems("x".repeat(300_000))[0]).toContain("is larger than 256 KiB");
    expect(problems("a: [\n").length).toBeGreaterThan(0);
  });
});

describe("options", () => {
  it("has a flag and a variable for every scalar of the schema, and no literal secret among them", () => {
    const options = scalarOptions();
    const flags = options.flatMap((option) => option.flags);
    for (const flag of [
      "--data-dir",
      "--listen",
      "--nomad-addr",
      "--nomad-namespaces",
      "--nomad-token-file",
      "--git-url",
      "--git-branch",
      "--git-path",
      "--git-token-file",
    ]) {
      expect(flags).toContain(flag);
    }
    expect(new Set(flags).size).toBe(flags.length);
    for (const flag of flags) expect(flag).not.toMatch(/(token|secret|password)$/);
  });

  it("tells defaults that mean what leaving the key out means", () => {
    const told = scalarOptions().filter((option) => option.default !== undefined);
    expect(told.length).toBeGreaterThan(20);
    for (const { flags, default: value = "" } of told) {
      const flag = flags[0]?.slice(2) ?? "";
      const set = load(minimal, { flags: { [flag]: value.replace(/^\[(.*)\]$/, "$1") } });
      expect(set, flag).toEqual(load(minimal));
    }
  });

  it("tells what may stand in each key, those that only the file sets included", () => {
    const allowed = Object.fromEntries(scalarOptions().map((option) => [option.flags[0], option.allowed]));
    expect(allowed).toMatchObject({
      "--log-level": "one of debug, info, warn, error",
      "--engine-concurrency": "whole number, 1 to 24",
      "--engine-apply-timeout": "duration",
      "--nomad-tls-skip-verify": "true or false",
      "--nomad-namespaces": "list of text",
    });
    expect(fileOnlyKeys()).toContainEqual({
      name: "repositories[].variables",
      description: "Variable values",
      allowed: "names to text, or number, or true or false",
      default: undefined,
      required: false,
    });
  });

  it("exports a JSON Schema that refuses unknown keys", () => {
    expect(configJsonSchema()).toMatchObject({ type: "object", additionalProperties: false });
  });
});
