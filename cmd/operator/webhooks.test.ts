import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testkit/fake-clock.ts";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { createWebhooks, leastMsBetweenLooks } from "./webhooks.ts";

const secret = "webhook-secret";
const body = Buffer.from("{}");
const headers = { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` };

function scene() {
  const clock = new FakeClock();
  const folder = tempFolder();
  writeFileSync(join(folder, "secret"), secret);
  const looks: { readonly repository: string; readonly at: number }[] = [];
  const begun = clock.now();
  const repositories = [
    { name: "main", webhook_secret_file: "secret" },
    { name: "other", webhook_secret_file: "secret" },
    { name: "unsigned", webhook_secret_file: undefined },
  ];
  const webhooks = createWebhooks(
    { repositories },
    { workingDirectory: folder, clock },
    (repository, afterMs) => void looks.push({ repository, at: clock.now() - begun + afterMs }),
    () => {},
  );
  return { clock, looks, call: (repository = "main") => webhooks.receive(repository, headers, body) };
}

describe("webhooks", () => {
  it("look at once, and once more for all that comes within a second", async () => {
    const { clock, looks, call } = scene();
    for (let times = 0; times < 5; times += 1) expect(await call()).toBe("accepted");
    await clock.advance(400);
    await call();
    expect(looks.map(({ at }) => at)).toEqual([0, 1_000]);
    // The second look is over; what it could not have seen brings the next one.
    await clock.advance(700);
    await call();
    expect(looks.map(({ at }) => at)).toEqual([0, 1_000, 2_000]);
    await clock.advance(5_000);
    await call();
    expect(looks.at(-1)?.at).toBe(6_100);
  });

  it("replayed two thousand times in ten seconds make no more than one look a second, and none is lost (S37, S38)", async () => {
    const { clock, looks, call } = scene();
    for (let times = 0; times < 2_000; times += 1) {
      await call();
      await clock.advance(5);
    }
    expect(looks).toHaveLength(11);
    expect(looks.at(-1)?.at).toBe(10_000);
    for (let at = 1; at < looks.length; at += 1)
      expect((looks[at]?.at ?? 0) - (looks[at - 1]?.at ?? 0)).toBeGreaterThanOrEqual(leastMsBetweenLooks);
  });

  it("of one repository hold up no other", async () => {
    const { looks, call } = scene();
    await call("main");
    await call("other");
    expect(looks).toEqual([
      { repository: "main", at: 0 },
      { repository: "other", at: 0 },
    ]);
  });

  it("look again after the clock was put back", async () => {
    const { clock, looks, call } = scene();
    await clock.advance(10_000);
    await call();
    clock.now = () => 0;
    await call();
    expect(looks).toHaveLength(2);
  });

  it("of a repository without a secret, or none, look at nothing (S34)", async () => {
    const { looks, call } = scene();
    expect(await call("unsigned")).toBe("unknown");
    expect(await call("nowhere")).toBe("unknown");
    expect(looks).toEqual([]);
  });
});
