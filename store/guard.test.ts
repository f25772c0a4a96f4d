import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aMove, aNewDeployment, aPerson } from "../testkit/builders.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { markPath } from "./guard.ts";
import { openStore } from "./open.ts";

function folder() {
  const path = join(tempFolder(), "nops.db");
  let seed = 0;
  const open = (clock = new FakeClock()) => openStore({ path, clock, random: new SeededRandom(++seed) });
  return { path, open };
}

describe("an older copy in the place of the database (D34)", () => {
  it("is known by the epoch that the folder has seen", async () => {
    const { path, open } = folder();
    await open().close();
    copyFileSync(path, `${path}.copy`);
    await open().close();
    copyFileSync(`${path}.copy`, path);
    const store = open();
    expect(await store.restored()).toMatchObject({ message: "the database is of start 1, but this folder has seen start 2" });
    expect(store.epoch()).toBe(3);
    expect((await store.eventsAfter(0, 9)).map((event) => event.kind)).toEqual(["restored"]);
    await store.close();
  });

  it("is known by an event of the same start that it has not", async () => {
    const { path, open } = folder();
    const first = open();
    await first.pauseAll(aPerson(), "");
    copyFileSync(path, `${path}.copy`);
    await first.close();
    const second = open();
    await second.backup(`${path}.two`);
    await second.resumeAll(aPerson());
    await second.close();
    copyFileSync(`${path}.two`, path);
    const store = open();
    expect(await store.restored()).toMatchObject({ message: "the audit log does not hold event 2, which this folder has seen" });
    await store.close();
  });

  it("stays marked over starts until a person accepts it, then never again", async () => {
    const { path, open } = folder();
    await open().close();
    copyFileSync(path, `${path}.copy`);
    const lived = open();
    await lived.create(aNewDeployment());
    await lived.close();
    copyFileSync(`${path}.copy`, path);
    for (let start = 0; start < 2; start++) {
      const store = open();
      expect(await store.restored()).toBeDefined();
      await store.close();
    }
    const store = open();
    expect(await store.acceptRestored(aPerson())).toBe(true);
    expect(await store.acceptRestored(aPerson())).toBe(false);
    await store.create(aNewDeployment());
    await store.close();
    const next = open();
    expect(await next.restored()).toBeUndefined();
    expect(await next.verifyAudit([next.folderMark() ?? { seq: 0, hash: "" }])).toMatchObject({ ok: true });
    await next.close();
  });

  it("is noticed when the database was removed altogether", async () => {
    const { path, open } = folder();
    const store = open();
    await store.create(aNewDeployment());
    await store.close();
    rmSync(path);
    const fresh = open();
    expect(await fresh.restored()).toBeDefined();
    await fresh.close();
  });

  it("can be marked by whoever finds that Nomad knows more", async () => {
    const { open } = folder();
    const store = open();
    expect(await store.restored()).toBeUndefined();
    await store.markRestored("Nomad holds deployment X, which the database has not");
    await store.markRestored("another reason");
    expect(await store.restored()).toMatchObject({ message: "Nomad holds deployment X, which the database has not" });
    await store.close();
  });
});

describe("the mark", () => {
  it("is never a reason for alarm after a normal life, a crash, or a shortened log", async () => {
    const { path, open } = folder();
    const first = open();
    const created = await first.create(aNewDeployment());
    await first.move(created.id, 1, aMove());
    // No close: the process died.
    const second = open(new FakeClock(Date.UTC(2028, 0, 1)));
    expect(await second.restored()).toBeUndefined();
    expect(await second.prune({ deploymentsMs: 0, eventsMs: 1 })).toMatchObject({ events: 1 });
    await second.close();
    const third = open();
    expect(await third.restored()).toBeUndefined();
    await third.close();
    await first.close().catch(() => undefined);
    expect(readFileSync(markPath(path), "utf8")).toMatch(/^3 3 [0-9a-f]{64}\n$/);
  });

  it("that is damaged stops the start with a word on what to do", async () => {
    const { path, open } = folder();
    await open().close();
    writeFileSync(markPath(path), "3 2");
    expect(() => open()).toThrow(expect.objectContaining({ code: "bad_mark" }));
  });
});
