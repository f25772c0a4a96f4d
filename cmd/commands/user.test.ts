import { expect, it } from "vitest";
import { commandLine } from "../../testkit/command-line.ts";
import { passwordMatches } from "../login/passwords.ts";
import { parseUsers } from "../login/users-file.ts";

it("prints a line that the users file takes, with the password of stdin", async () => {
  const { code, out, err } = await commandLine(["user", "hash", "anna", "--email", "anna@example.com"], {
    stdin: "correct horse\n",
  });
  expect(code).toBe(0);
  const { users, problems } = parseUsers(out);
  expect(problems).toEqual([]);
  expect(users.get("anna")).toMatchObject({ email: "anna@example.com" });
  expect(await passwordMatches("correct horse", users.get("anna")?.hash)).toBe(true);
  expect(out + err).not.toContain("correct horse");
});

it.each([
  [["anna"], "short", "a password has 8 to 1000 characters"],
  [["anna"], "", "a password has 8 to 1000 characters"],
  [["two words"], "long enough", "must begin with a name"],
  [["anna", "--email", "nowhere"], "long enough", "is no e-mail address"],
])("refuses %j with a password such as %j", async (args, stdin, words) => {
  const { code, out, err } = await commandLine(["user", "hash", ...args], { stdin });
  expect(code).toBe(2);
  expect(err).toContain(words);
  expect(out).toBe("");
});
