import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { createTempRepository } from "../testkit/temp-git.ts";
import { gitLimits } from "./limits.ts";
import type { RepositorySpec } from "./repository-reader.ts";
import { createWorkerHost } from "./worker-host.ts";
import type { FromWorker, WireOutcome } from "./worker-protocol.ts";

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const job = (name: string) => `job "${name}" {\n}\n`;

async function setUp() {
  const repository = await createTempRepository({ bare: true });
  cleanUps.push(repository.remove);
  const spec: RepositorySpec = {
    name: "main",
    location: { kind: "local", path: repository.dir, display: repository.dir },
    branch: "main",
    rules: { path: "", files: [], ignore: [], varFiles: [], variables: {}, environment: {} },
    username: "git",
    tokenFile: undefined,
    certificateAuthorityFile: undefined,
    sshKeyFile: undefined,
    knownHostsFile: undefined,
    allowedSignersFile: undefined,
    cacheDirectory: tmpdir(),
    limits: gitLimits,
  };
  let answered: (messages: readonly FromWorker[]) => void = () => {};
  let messages: FromWorker[] = [];
  const host = createWorkerHost([spec], (message) => {
    messages.push(message);
    if (message.type !== "files") answered(messages);
  });
  let id = 0;
  async function read(base: number | undefined, name = "main") {
    messages = [];
    const all = await new Promise<readonly FromWorker[]>((resolve) => {
      answered = resolve;
      host.receive({ type: "read", id: ++id, repository: name, known: undefined, base });
    });
    const last = all.at(-1);
    if (last?.type !== "done" || !last.outcome.changed) throw new Error(JSON.stringify(last));
    const outcome: WireOutcome & { changed: true } = last.outcome;
    const paths = all.flatMap((message) => (message.type === "files" ? message.files.map(({ path }) => path) : []));
    return { outcome, paths };
  }
  return { repository, read };
}

describe("createWorkerHost", () => {
  it("sends what differs from an answer that the asker has, and all when it has another or none", async () => {
    const { repository, read } = await setUp();
    await repository.commit({ files: { "a.hcl": job("a"), "b.hcl": job("b") } });
    const first = await read(undefined);
    expect([first.paths, first.outcome.complete]).toEqual([["a.hcl", "b.hcl"], true]);
    await repository.commit({ files: { "a.hcl": null, "c.hcl": job("c") } });
    const second = await read(first.outcome.generation);
    expect([second.paths, second.outcome.complete, second.outcome.removed]).toEqual([["c.hcl"], false, ["a.hcl"]]);
    for (const base of [undefined, first.outcome.generation]) {
      const again = await read(base);
      expect([again.paths, again.outcome.complete, again.outcome.removed]).toEqual([["b.hcl", "c.hcl"], true, []]);
    }
  });

  it("answers for a repository it does not know", async () => {
    const { read } = await setUp();
    await expect(read(undefined, "other")).rejects.toThrow("no repository is called");
  });
});
