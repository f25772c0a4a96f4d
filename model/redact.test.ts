import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FieldDiff, JobDiff } from "./nomad.ts";
import { isSecretName, Redactor, redactDiff, redactedMarker } from "./redact.ts";

const field = (Name: string, Old: string, New: string): FieldDiff => ({ Type: "Edited", Name, Old, New });

function diffWith(fields: readonly FieldDiff[], objects: JobDiff["Objects"] = []): JobDiff {
  const task = { Type: "Edited" as const, Name: "t", Fields: fields, Objects: objects ?? [] };
  const group = { Type: "Edited" as const, Name: "g", Fields: [], Objects: [], Tasks: [task], Updates: { create: 1 } };
  return { Type: "Edited", ID: "web", Fields: [], Objects: [], TaskGroups: [group] };
}

function taskFields(diff: JobDiff): readonly FieldDiff[] {
  return diff.TaskGroups?.[0]?.Tasks?.[0]?.Fields ?? [];
}

describe("redactDiff by names (operator §17)", () => {
  it.each([
    ["Env[LOG_LEVEL]", "debug", "info"],
    ["EmbeddedTmpl", "a", "b"],
    ["GetterHeaders[X-Thing]", "a", "b"],
    ["Config[auth][password]", "a", "b"],
    ["Config[db_password]", "a", "b"],
    ["Meta[API-KEY]", "a", "b"],
    ["Meta[db_dsn]", "a", "b"],
    ["Payload", "a", "b"],
  ])("hides both values of %s", (name, old, next) => {
    expect(taskFields(redactDiff(diffWith([field(name, old, next)])))).toEqual([field(name, redactedMarker, redactedMarker)]);
  });

  it("keeps an empty side empty, so that added and removed stay visible", () => {
    expect(taskFields(redactDiff(diffWith([field("Env[A]", "", "x")])))).toEqual([field("Env[A]", "", redactedMarker)]);
  });

  it("shows durations as a job file writes them", () => {
    const fields = [field("KillTimeout", "5000000000", "30000000000"), field("Count", "1000000000", "2000000000")];
    expect(taskFields(redactDiff(diffWith(fields)))).toEqual([
      field("KillTimeout", "5s", "30s"),
      field("Count", "1000000000", "2000000000"),
    ]);
    const wait = { Type: "Edited" as const, Name: "Wait", Fields: [field("Min", "", "1500")], Objects: [] };
    const scaling = { ...wait, Name: "Scaling" };
    expect(JSON.stringify(redactDiff(diffWith([], [wait])))).toContain('"1500ns"');
    expect(JSON.stringify(redactDiff(diffWith([], [scaling])))).toContain('"1500"');
  });

  it("keeps harmless values", () => {
    const fields = [field("Count", "1", "2"), field("Config[image]", "web:1", "web:2"), field("DestPath", "a", "b")];
    expect(taskFields(redactDiff(diffWith(fields)))).toEqual(fields);
  });

  it("hides everything below an object called Header or named like a secret", () => {
    const objects = ["Header", "DockerAuth"].map((Name) => ({
      Type: "Edited" as const,
      Name,
      Fields: [field("X", "a1", "b2")],
      Objects: [{ Type: "Added" as const, Name: "Inner", Fields: [field("Y", "", "c3")], Objects: null }],
    }));
    const text = JSON.stringify(redactDiff(diffWith([], objects)));
    for (const secret of ["a1", "b2", "c3"]) expect(text).not.toContain(`"${secret}"`);
  });

  it("hides the word after a flag in a list of arguments", () => {
    const fields = [field("Config[args][0]", "--api-token", "--api-token"), field("Config[args][1]", "abc", "def")];
    expect(taskFields(redactDiff(diffWith(fields)))[1]).toEqual(field("Config[args][1]", redactedMarker, redactedMarker));
  });

  it("does not change what it was given", () => {
    const diff = diffWith([field("Env[A]", "x", "y")]);
    const before = JSON.stringify(diff);
    redactDiff(diff);
    expect(JSON.stringify(diff)).toBe(before);
  });
});

describe("redactDiff by values (S06)", () => {
  it("hides a secret that moved to a harmless key", () => {
    const canary = "s3cr3t-canary-71";
    const fields = [field("Env[OLD]", canary, ""), field("Meta[note]", "", `see ${canary} there`)];
    expect(JSON.stringify(redactDiff(diffWith(fields)))).not.toContain(canary);
  });

  it("hides canaries, wherever a secret place and a harmless place hold the same one (S01)", () => {
    // Environment values with few different characters (0, true, a nil UUID) are no secrets by their value alone.
    const canaries = fc.uuid().filter((value) => new Set(value).size > 9);
    const places = ["Env[A]", "Config[password]", "GetterHeaders[H]", "Meta[api_key]"];
    fc.assert(
      fc.property(fc.constantFrom(...places), canaries, fc.string(), (place, canary, around) => {
        const diff = diffWith([field("Config[command]", "", `${around}${canary}${around}`), field(place, canary, "")]);
        expect(JSON.stringify(redactDiff(diff))).not.toContain(canary);
      }),
      { numRuns: 200 },
    );
  });
});

describe("Redactor.text by form", () => {
  const redactor = new Redactor();
  it.each([
    ["postgres://user:hunter2@db:5432/app", "postgres://<redacted>@db:5432/app"],
    ["https://tok3n@git.example.com/x.git failed", "https://<redacted>@git.example.com/x.git failed"],
    ["postgres://u:p@ss@h/x", "postgres://<redacted>@h/x"],
    ["run --token=abc123 now", "run --token=<redacted> now"],
    ["run --db-password hunter2 now", "run --db-password <redacted> now"],
    ["DB_PASSWORD=hunter2", "DB_PASSWORD=<redacted>"],
    ['{"api_key":"abc","n":1}', '{"api_key":<redacted>,"n":1}'],
    ["Authorization: Bearer abc.def", "Authorization: <redacted>"],
    ["sent bearer abcdefghij", "sent bearer <redacted>"],
    ["key ghp_0123456789abcdefghij0123", "key <redacted>"],
    ["id AKIAABCDEFGHIJKLMNOP", "id <redacted>"],
    ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "jwt <redacted>"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "<redacted>"],
  ])("%s", (text, expected) => expect(redactor.text(text)).toBe(expected));

  it.each([
    "the live job differs from git",
    "https://git.example.com/ops/jobs.git",
    "image registry:5000/web@sha256:abc",
    "ACL token not found",
    "12 of 12 allocations healthy",
    "mail ops@example.com",
  ])("leaves %j alone", (text) => expect(redactor.text(text)).toBe(text));

  it("takes linear time on hostile texts", () => {
    for (const hostile of [
      "a".repeat(400_000),
      "-".repeat(400_000),
      "token".repeat(80_000),
      "a://".repeat(100_000),
      "eyJ".repeat(130_000),
    ]) {
      const before = performance.now();
      redactor.text(hostile);
      expect(performance.now() - before).toBeLessThan(2_000);
    }
  });
});

describe("Redactor.text by learned values", () => {
  const spec = {
    ID: "web",
    Meta: { owner: "team-a", db_dsn: "Server=db;Pwd=zebra9" },
    TaskGroups: [
      {
        Tasks: [
          {
            Env: { API_SECRET: "kiwi", SESSION: "longValue99", LEVEL: "information", PORT: "8080", DB: "pg://u:tigerPw@h/d" },
            Config: {
              args: ["--token", "lemon1", "--token=melon22", "--verbose"],
              image: "web:1",
              auth: [{ password: "grape" }],
            },
            Templates: [{ EmbeddedTmpl: 'PASSWORD=cherry7\nHOST={{ env "X" }}\n"secret": "olive55",\n' }],
          },
        ],
      },
    ],
  };
  const redactor = new Redactor();
  redactor.learn("default/web", spec);

  it.each(["kiwi", "longValue99", "tigerPw", "lemon1", "melon22", "grape", "cherry7", "olive55", "Server=db;Pwd=zebra9"])(
    "hides %s anywhere",
    (secret) =>
      expect(redactor.text(`Nomad said: bad value «${secret}» in line 3`)).toBe("Nomad said: bad value «<redacted>» in line 3"),
  );

  it.each(["team-a", "information", "8080", "--verbose", "web:1"])("does not hide %s", (text) => {
    expect(redactor.text(`about ${text} here`)).toBe(`about ${text} here`);
  });

  it("keeps a value while any owner still has it", () => {
    const two = new Redactor();
    two.learnValues("a", ["shared-secret"]);
    two.learnValues("b", ["shared-secret", "own-secret"]);
    two.forget("a");
    expect(two.text("shared-secret own-secret")).toBe("<redacted> <redacted>");
    two.learnValues("b", ["own-secret"]);
    expect(two.text("shared-secret own-secret")).toBe("shared-secret <redacted>");
  });

  it("never lets a learned value through, and twice is the same as once", () => {
    const secret = fc.string({ minLength: 8, maxLength: 20 }).filter((text) => !/[<>]/.test(text) && text.trim() !== "");
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 5 }),
        fc.array(fc.string(), { maxLength: 5 }),
        (secrets, around) => {
          const one = new Redactor();
          one.learnValues("x", secrets);
          const text = secrets.map((each, at) => `${around[at] ?? " "}${each}`).join(" / ");
          const once = one.text(text);
          for (const each of secrets) expect(once.includes(each)).toBe(false);
          expect(one.text(once)).toBe(once);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("masks values inside any structure and errors", () => {
    expect(redactor.value({ a: ["x kiwi"], b: { c: 1, d: null }, e: new Error("kiwi") })).toEqual({
      a: ["x <redacted>"],
      b: { c: 1, d: null },
      e: { name: "Error", message: "<redacted>" },
    });
  });
});

it.each([
  ["db_password", true],
  ["X-Auth-Key", true],
  ["api-key", true],
  ["author", true],
  ["image", false],
  ["count", false],
])("isSecretName(%s) is %s", (name, expected) => expect(isSecretName(name)).toBe(expected));
