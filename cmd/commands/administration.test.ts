import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { databasePath } from "../../store/backup.ts";
import { openStore } from "../../store/open.ts";
import { commandLine } from "../../testkit/command-line.ts";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { systemClock, systemRandom } from "../system-clock.ts";

/** A folder in which an operator has run. */
async function dataFolder(): Promise<string> {
  const folder = tempFolder();
  await openStore({ path: databasePath(folder), clock: systemClock, random: systemRandom }).close();
  return folder;
}

it("restore says what has to follow, accept says that a restart has to", async () => {
  const dataDir = await dataFolder();
  const nops = (...args: readonly string[]) => commandLine(args, { env: { NOPS_DATA_DIR: dataDir } });
  const copy = join(tempFolder(), "copy.db");
  expect(await nops("backup", copy)).toMatchObject({ code: 0 });
  const restored = await nops("restore", copy);
  expect(restored).toMatchObject({
    code: 0,
    err: expect.stringContaining(`nops restore --accept --data-dir ${dataDir}; if it runs`),
  });
  expect((await nops("restore", "--accept")).out).toMatch(/^accepted; restart nops/);
  expect((await nops("restore", "--accept")).out).toMatch(/^nothing to accept/);
});

it("what they print is there as JSON too", async () => {
  const dataDir = await dataFolder();
  const nops = async (...args: readonly string[]) =>
    JSON.parse((await commandLine([...args, "--json"], { env: { NOPS_DATA_DIR: dataDir } })).out);
  const file = join(tempFolder(), "copy.db");
  expect(await nops("backup", file)).toMatchObject({ file, head: { seq: expect.any(Number) } });
  expect(await nops("restore", file)).toMatchObject({ replaced: expect.any(String) });
  expect(await nops("restore", "--accept")).toEqual({ accepted: true, restart_needed: true });
  const { id } = await nops("token", "create", "ci");
  expect(await nops("token", "revoke", id)).toMatchObject({ id, name: "ci", revokedAt: expect.any(String) });
});

it("two valid tokens have two names: the second is refused with 3 and prints no secret", async () => {
  const create = async (name: string) => commandLine(["token", "create", name, "--data-dir", dataDir]);
  const dataDir = await dataFolder();
  expect((await create("ci")).code).toBe(0);
  expect(await create("ci")).toMatchObject({
    code: 3,
    out: "",
    err: expect.stringMatching(/called "ci" already\nhint: .*token revoke/),
  });
  expect((await create("ci-2")).code).toBe(0);
});

it("the database is the one that serve would use: flag beats variable beats nops.yml, whose other keys do not matter", async () => {
  const folders = { flag: await dataFolder(), variable: await dataFolder(), file: await dataFolder() };
  const folder = dirname(folders.file);
  const config = join(tempFolder(), "other.yml");
  const text = `data_dir: ./${basename(folders.file)}\nnomad: { token_file: /nowhere }\n`;
  writeFileSync(config, text);
  const names = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const { out } = await commandLine(["token", "list", "--json", ...args], { folder, env });
    return JSON.parse(out).tokens.map(({ name }: { name: string }) => name);
  };
  for (const [name, dataDir] of Object.entries(folders)) await commandLine(["token", "create", name, "--data-dir", dataDir]);
  expect(await names(["--config", config], {})).toEqual(["file"]);
  expect(await names([], { NOPS_CONFIG: config })).toEqual(["file"]);
  expect(await names(["--config", config], { NOPS_DATA_DIR: folders.variable })).toEqual(["variable"]);
  expect(await names(["--data-dir", folders.flag], { NOPS_DATA_DIR: folders.variable, NOPS_CONFIG: config })).toEqual(["flag"]);
});

it("a data folder that nops.yml does not name rightly is told with its place", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "nops.yml"), "log: {}\ndata_dir: [a]\n");
  const { code, err } = await commandLine(["token", "list"], { folder });
  expect(code).toBe(2);
  expect(err).toMatch(/nops\.yml:2:1 data_dir: /);
});
