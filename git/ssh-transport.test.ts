import type { AddressInfo } from "node:net";
import git from "isomorphic-git";
import ssh2, { type Connection } from "ssh2";
import { afterEach, describe, expect, it } from "vitest";
import { openObjects } from "../testkit/git-objects.ts";
import { serveUploadPack } from "../testkit/git-server.ts";
import { createTempRepository } from "../testkit/temp-git.ts";
import { gitLimits } from "./limits.ts";
import { createSshTransport, type SshTransportOptions } from "./ssh-transport.ts";

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const hostKey = ssh2.utils.generateKeyPairSync("ed25519");
const hostRsaKey = ssh2.utils.generateKeyPairSync("rsa", { bits: 2048 });
const userKey = ssh2.utils.generateKeyPairSync("ed25519");
const otherKey = ssh2.utils.generateKeyPairSync("ed25519");
const publicPart = (key: string) => key.split(" ").slice(0, 2).join(" ");

interface Behaviour {
  /** Instead of serving the repository. */
  readonly exec?: (channel: {
    stderr: { write(text: string): void };
    exit(code: number): void;
    end(): void;
    write(text: string): void;
  }) => void;
}

function acceptOnlyUserKey(client: Connection): void {
  const allowed = ssh2.utils.parseKey(userKey.public);
  if (allowed instanceof Error) throw allowed;
  client.on("authentication", (context) => {
    const right = context.method === "publickey" && context.key.data.equals(allowed.getPublicSSH()) && context.username === "git";
    if (right) context.accept();
    else context.reject(["publickey"]);
  });
}

async function setUp({ exec }: Behaviour = {}) {
  const repository = await createTempRepository({ bare: true });
  cleanUps.push(repository.remove);
  const sha = await repository.commit({ files: { "jobs/a.hcl": "one", big: "x".repeat(200_000) } });
  const commands: string[] = [];
  const connections = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [hostKey.private, hostRsaKey.private] }, (client) => {
    connections.add(client);
    client.on("error", () => undefined);
    client.on("close", () => connections.delete(client));
    acceptOnlyUserKey(client);
    client.on("session", (accept) => {
      accept().on("exec", (acceptExec, _reject, { command }) => {
        commands.push(command);
        const channel = acceptExec();
        if (exec !== undefined) return exec(channel);
        void serveUploadPack(openObjects(repository.gitdir), channel).then(() => {
          channel.exit(0);
          channel.end();
        });
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(
    () =>
      new Promise<void>((resolve) => {
        for (const connection of connections) connection.end();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  function open(changes: Partial<SshTransportOptions> = {}) {
    const transport = createSshTransport({
      user: "git",
      host: "127.0.0.1",
      port,
      path: "/srv/it's.git",
      display: `ssh://127.0.0.1:${port}/srv/it's.git`,
      privateKey: userKey.private,
      keyFile: "/keys/id",
      knownHosts: `[127.0.0.1]:${port} ${publicPart(hostKey.public)}\n`,
      knownHostsFile: "/keys/known_hosts",
      limits: gitLimits,
      signal: new AbortController().signal,
      ...changes,
    });
    cleanUps.push(() => transport.close());
    return transport;
  }
  const listRefs = (changes?: Partial<SshTransportOptions>) => {
    const { http, url, protocolVersion } = open(changes);
    return git.listServerRefs({ http, url, prefix: "refs/heads/", protocolVersion });
  };
  return { repository, sha, port, commands, open, listRefs };
}

describe("createSshTransport", () => {
  it("lists refs, then fetches over the same connection, and quotes the path", async () => {
    const { sha, open, commands, repository } = await setUp();
    const { http, url, protocolVersion } = open();
    expect(await git.listServerRefs({ http, url, prefix: "refs/heads/", protocolVersion })).toEqual([
      { ref: "refs/heads/main", oid: sha },
    ]);
    const target = await createTempRepository({ bare: true });
    cleanUps.push(target.remove);
    const fs = await import("node:fs");
    const { gitdir } = target;
    await git.addRemote({ fs, gitdir, remote: "origin", url });
    const fetched = await git.fetch({
      fs,
      gitdir,
      http,
      url,
      remote: "origin",
      ref: "refs/remotes/origin/main",
      remoteRef: "refs/heads/main",
      singleBranch: true,
      depth: 1,
    });
    expect(fetched.fetchHead).toBe(sha);
    const { blob } = await git.readBlob({ fs, gitdir, oid: sha, filepath: "jobs/a.hcl" });
    expect(Buffer.from(blob).toString()).toBe("one");
    expect(commands).toEqual([`git-upload-pack '/srv/it'\\''s.git'`]);
    expect(await repository.head()).toBe(sha);
  });

  it("asks for the kind of key that is known", async () => {
    const { listRefs, port } = await setUp();
    const knownHosts = `[127.0.0.1]:${port} ${publicPart(hostRsaKey.public)}\n`;
    await expect(listRefs({ knownHosts })).resolves.toHaveLength(1);
  });

  it.each([
    ["unknown", (_port: number) => "", "is not in /keys/known_hosts"],
    [
      "changed",
      (port: number) => `[127.0.0.1]:${port} ${publicPart(otherKey.public)}`,
      "shows another key than the one in /keys/known_hosts",
    ],
    [
      "revoked",
      (port: number) => `@revoked * ${publicPart(hostKey.public)}\n[127.0.0.1]:${port} ${publicPart(hostKey.public)}`,
      "marks as revoked",
    ],
  ])("refuses a server whose key is %s, before any command", async (_, knownHosts, message) => {
    const { listRefs, commands, port } = await setUp();
    await expect(listRefs({ knownHosts: knownHosts(port) })).rejects.toMatchObject({
      kind: "host_key",
      message: expect.stringContaining(message),
    });
    expect(commands).toEqual([]);
  });

  it("says that the key is not accepted", async () => {
    const { listRefs } = await setUp();
    await expect(listRefs({ privateKey: otherKey.private })).rejects.toMatchObject({
      kind: "not_permitted",
      message: expect.stringContaining("does not accept the key of /keys/id"),
    });
  });

  it.each([
    [
      "protected",
      ssh2.utils.generateKeyPairSync("ed25519", { passphrase: "secret", cipher: "aes256-ctr", rounds: 4 }).private,
      "passphrase",
    ],
    ["no key", "canary-content", "is no private key"],
  ])("says that the key file is %s, without its content", async (_, privateKey, message) => {
    const { listRefs } = await setUp();
    const failure = await listRefs({ privateKey }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "configuration", message: expect.stringContaining(message) });
    expect(String(failure)).not.toContain("canary");
  });

  it.each([
    ["fatal: '/srv/x' does not appear to be a git repository\n", "not_found"],
    ["ERROR: Permission to ops/jobs denied to deploy key\n", "not_permitted"],
    ["", "unreachable"],
  ])("reads %j on standard error as %s", async (text, kind) => {
    const { listRefs } = await setUp({
      exec: (channel) => {
        channel.stderr.write(text);
        channel.exit(128);
        channel.end();
      },
    });
    await expect(listRefs()).rejects.toMatchObject({ kind });
  });

  it("gives up a server that falls silent", async () => {
    const { listRefs } = await setUp({ exec: (channel) => channel.write("0040") });
    await expect(listRefs({ limits: { ...gitLimits, idleMs: 150 } })).rejects.toMatchObject({
      kind: "timeout",
      message: expect.stringContaining("silent for 0.15 s"),
    });
  });

  it("refuses a server that greets with something else", async () => {
    const { listRefs } = await setUp({ exec: (channel) => channel.write("Welcome to nowhere") });
    await expect(listRefs()).rejects.toMatchObject({ kind: "bad_answer" });
  });

  it("stops when it is aborted, before and while it waits", async () => {
    const { listRefs } = await setUp();
    await expect(listRefs({ signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: "aborted" });
    const abort = new AbortController();
    const waiting = await setUp({ exec: () => abort.abort() });
    await expect(waiting.listRefs({ signal: abort.signal })).rejects.toMatchObject({ kind: "aborted" });
  });

  it("says that nobody listens", async () => {
    const { listRefs } = await setUp();
    await expect(listRefs({ port: 1 }))
      .rejects.toMatchObject({ kind: "host_key" })
      .catch(() => undefined);
    await expect(listRefs({ port: 1, knownHosts: `[127.0.0.1]:1 ${publicPart(hostKey.public)}` })).rejects.toMatchObject({
      kind: "unreachable",
    });
  });

  it("leaves a home to the server's shell and quotes the rest", async () => {
    const { listRefs, commands } = await setUp();
    await listRefs({ path: "~ann/$(id).git" });
    await listRefs({ path: "~/x;y" });
    expect(commands).toEqual(["git-upload-pack ~ann'/$(id).git'", "git-upload-pack ~'/x;y'"]);
  });
});
