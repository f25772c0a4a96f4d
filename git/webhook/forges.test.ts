import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyWebhook, webhookOrigin } from "./forges.ts";

const secret = "s3cret-ü";
const body = Buffer.from('{"repository":{"url":"http://169.254.169.254/"}}');
const hex = createHmac("sha256", secret).update(body).digest("hex");

function headers(values: Readonly<Record<string, string>>): Headers {
  return new Headers(values);
}

const valid: readonly (readonly [forge: string, header: string, value: string])[] = [
  ["github", "X-Hub-Signature-256", `sha256=${hex}`],
  ["gitea", "X-Gitea-Signature", hex],
  ["forgejo", "X-Forgejo-Signature", hex],
  ["gogs", "X-Gogs-Signature", hex],
  ["bitbucket", "X-Hub-Signature", `sha256=${hex}`],
  ["generic", "X-Nops-Signature-256", `sha256=${hex}`],
];

describe("verifyWebhook", () => {
  it.each(valid)("takes %s's proof", (forge, header, value) => {
    expect(verifyWebhook(headers({ [header]: value }), body, secret)).toBe(true);
    expect(webhookOrigin(headers({ [header]: value }))?.forge).toBe(forge);
  });

  it("takes GitLab's token", () => {
    expect(verifyWebhook(headers({ "X-Gitlab-Token": "plain" }), body, "plain")).toBe(true);
    expect(verifyWebhook(headers({ "X-Gitlab-Token": "plain2" }), body, "plain")).toBe(false);
  });

  it("agrees with the published example of GitHub's documentation", () => {
    const example = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const text = Buffer.from("Hello, World!");
    expect(verifyWebhook(headers({ "x-hub-signature-256": example }), text, "It's a Secret to Everybody")).toBe(true);
  });

  it.each(valid)("refuses every wrong form of %s's proof (S33)", (_, header, value) => {
    const plain = value.replace("sha256=", "");
    const sha1 = createHmac("sha1", secret).update(body).digest("hex");
    const wrong = [
      "",
      "sha256=",
      plain.slice(0, -1),
      value.slice(0, -2),
      value.toUpperCase(),
      `${value}0`,
      `sha1=${sha1}`,
      sha1,
      "zz".repeat(32),
      ` ,${value}`,
      `${value}, ${value}`,
    ];
    for (const bad of [...wrong, value === plain ? `sha256=${plain}` : plain]) {
      expect(verifyWebhook(headers({ [header]: bad }), body, secret), bad).toBe(false);
    }
    const twice = headers({ [header]: value });
    twice.append(header, value);
    expect(verifyWebhook(twice, body, secret)).toBe(false);
  });

  it.each(valid)("refuses %s's proof for another body or secret", (_, header, value) => {
    const given = headers({ [header]: value });
    expect(verifyWebhook(given, Buffer.concat([body, Buffer.from(" ")]), secret)).toBe(false);
    expect(verifyWebhook(given, body, `${secret}x`)).toBe(false);
  });

  it("takes a header that is no text of one byte each for what it is", () => {
    const odd = { get: (name: string) => (name === "x-hub-signature-256" ? "sha256=ü\u{1f600}" : null) };
    expect(verifyWebhook(odd, body, secret)).toBe(false);
  });

  it("verifies nothing without a secret or a proof (S34)", () => {
    const empty = createHmac("sha256", "").update(body).digest("hex");
    expect(verifyWebhook(headers({ "X-Hub-Signature-256": `sha256=${empty}` }), body, "")).toBe(false);
    expect(verifyWebhook(headers({ "X-Gitlab-Token": "" }), body, "")).toBe(false);
    expect(verifyWebhook(headers({}), body, secret)).toBe(false);
    expect(webhookOrigin(headers({}))).toBeUndefined();
  });

  it("lets the first proof decide, so that a second one cannot help a bad one", () => {
    const both = headers({ "X-Gitea-Signature": "bad", "X-Hub-Signature-256": `sha256=${hex}` });
    expect(verifyWebhook(both, body, secret)).toBe(false);
  });

  it("verifies any bytes and never throws (S35)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ minLength: 1 }), fc.string(), (bytes, key, junk) => {
        const proof = createHmac("sha256", key).update(bytes).digest("hex");
        expect(verifyWebhook({ get: (name) => (name === "x-gitea-signature" ? proof : null) }, bytes, key)).toBe(true);
        expect(verifyWebhook({ get: (name) => (name === "x-gitea-signature" ? junk : null) }, bytes, key)).toBe(false);
      }),
    );
  });
});

describe("webhookOrigin", () => {
  it("cuts what it shows", () => {
    const given = { "X-GitHub-Event": "push", "X-GitHub-Delivery": "x".repeat(200), "X-Hub-Signature-256": "y" };
    expect(webhookOrigin(headers(given))).toEqual({ forge: "github", event: "push", delivery: "x".repeat(64) });
  });
});
