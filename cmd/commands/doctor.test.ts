import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { commandLine } from "../../testkit/command-line.ts";
import { tempFolder } from "../../testkit/temp-folder.ts";
import { createTempRepository } from "../../testkit/temp-git.ts";

it("the cure of what a repository refuses is that of the refusal, not a guess", async () => {
  const repository = await createTempRepository();
  onTestFinished(() => repository.remove());
  await repository.commit({ files: { "web.nomad.hcl": 'job "web" {}\n' } });
  const folder = tempFolder();
  const key = `AAAAC3NzaC1lZDI1NTE5AAAAI${"A".repeat(43)}`;
  writeFileSync(join(folder, "signers"), `anna@example.com ssh-ed25519 ${key}\n`);
  const ran = await commandLine(["doctor", "--git-url", repository.dir, "--git-allowed-signers-file", "signers"], { folder });
  expect(ran.out).toMatch(
    /^fail repository main: commit [0-9a-f]{8} is not deployed: it is not signed\n +cure: sign it with a key/m,
  );
});

it("the cure for lacking tokens works at the time it is given: a database has to be there first", async () => {
  const folder = tempFolder();
  const ran = await commandLine(["doctor", "--git-url", "/nowhere", "--data-dir", "data"], { folder });
  expect(ran.out).toContain(
    `cure: once nops serve has made the database: nops token create NAME --data-dir ${join(folder, "data")}\n`,
  );
});
