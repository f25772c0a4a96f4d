import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Log } from "../../model/log.ts";
import { SeededRandom } from "../../testkit/fake-clock.ts";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { hashPassword, newSalt, passwordMatches } from "./passwords.ts";
import { openUsersFile, parseUsers } from "./users-file.ts";

const hash = await hashPassword("correct horse", newSalt(new SeededRandom(1)));
const other = await hashPassword("battery staple", newSalt(new SeededRandom(2)));

function logging() {
  const lines: string[] = [];
  const write = (level: string) => (message: string, facts?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(facts)}`);
  const log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") } as unknown as Log;
  return { log, lines };
}

describe("passwords", () => {
  it("match their own hash only, however the letters were composed", async () => {
    const accented = await hashPassword("caf\u00e9 au lait", newSalt(new SeededRandom(3)));
    expect(await passwordMatches("cafe\u0301 au lait", accented)).toBe(true);
    expect(await passwordMatches("correct horse", hash)).toBe(true);
    for (const wrong of ["correct hors", "correct horse ", "Correct horse", ""])
      expect(await passwordMatches(wrong, hash), wrong).toBe(false);
    expect(other).not.toBe(await hashPassword("battery staple", newSalt(new SeededRandom(4))));
  });

  it("cost the same where nobody has the name, and never match there", async () => {
    const time = async (known: string | undefined): Promise<number> => {
      const start = performance.now();
      expect(await passwordMatches("\u0000", known)).toBe(false);
      return performance.now() - start;
    };
    const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[2] ?? 0;
    const known: number[] = [];
    const unknown: number[] = [];
    for (let n = 0; n < 5; n++) {
      known.push(await time(hash));
      unknown.push(await time(undefined));
    }
    // A lookup without the hash takes less than a millisecond.
    expect(median(unknown)).toBeGreaterThan(median(known) / 3);
  });
});

describe("a users file", () => {
  it("is lines of name, hash and perhaps an e-mail address; comments and blank lines are passed over", () => {
    const { users, problems } = parseUsers(`# people\n\nanna:${hash}\r\n  bob.b@x:${other}:bob@example.com  \n`);
    expect(problems).toEqual([]);
    expect([...users.values()]).toEqual([
      { name: "anna", hash, email: undefined },
      { name: "bob.b@x", hash: other, email: "bob@example.com" },
    ]);
  });

  it.each([
    ["anna", 'line 2: what follows "anna:" is no hash that nops user hash makes'],
    ["anna:", 'line 2: what follows "anna:" is no hash that nops user hash makes'],
    ["anna:secret-in-clear", 'line 2: what follows "anna:" is no hash that nops user hash makes'],
    [`anna:${hash}x`, 'line 2: what follows "anna:" is no hash that nops user hash makes'],
    [`anna:${hash.replace("ln=15", "ln=4")}`, 'line 2: what follows "anna:" is no hash that nops user hash makes'],
    [`:${hash}`, "line 2: must begin with a name of 1 to 100 letters, digits or any of . _ @ -"],
    [`two words:${hash}`, "line 2: must begin with a name of 1 to 100 letters, digits or any of . _ @ -"],
    [`anna:${hash}:nowhere`, 'line 2: what follows the hash of "anna" is no e-mail address'],
    [`anna:${hash}:a@b:c`, 'line 2: what follows the hash of "anna" is no e-mail address'],
    [`bob:${hash}`, 'line 2: "bob" is there twice'],
  ])("with the line %j is refused at the start, by its line and without what it says", (line, problem) => {
    const { problems } = parseUsers(`bob:${other}\n${line}\n`);
    expect(problems).toEqual([problem]);
    expect(problems.join()).not.toContain("secret-in-clear");
    const path = join(tempFolder(), "users");
    writeFileSync(path, `bob:${other}\n${line}\n`);
    expect(() => openUsersFile(path, logging().log)).toThrow(
      expect.objectContaining({ code: "bad_users_file", message: `${path}: ${problem}` }),
    );
  });

  it("is read again when it changed: removals count at once, a bad line is left out and told", () => {
    const path = join(tempFolder(), "users");
    writeFileSync(path, `anna:${hash}\nbob:${other}\n`);
    const { log, lines } = logging();
    const file = openUsersFile(path, log);
    expect(file.find("anna")).toMatchObject({ hash });
    writeFileSync(path, `bob:${other}\ncarla:clear-text\n`);
    utimesSync(path, 1_000, 1_000);
    expect(file.find("anna")).toBeUndefined();
    expect(file.find("carla")).toBeUndefined();
    expect(file.find("bob")).toMatchObject({ hash: other });
    expect(lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
    expect(lines.join()).not.toContain("clear-text");
    rmSync(path);
    expect(() => file.find("bob")).toThrow(expect.objectContaining({ code: "users_unreadable" }));
  });
});
