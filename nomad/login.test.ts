import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NomadError } from "../model/errors.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { startHttpServer } from "../testkit/http-server.ts";
import { type LoggedIn, loginToken } from "./login.ts";
import { createTransport } from "./transport.ts";

function login(lifeMs: number | undefined) {
  const clock = new FakeClock();
  const jwt = { now: "jwt-1" };
  const made: string[] = [];
  let broken = false;
  const source = loginToken(
    { current: async () => jwt.now, rejected: () => false },
    async (token): Promise<LoggedIn> => {
      if (broken) throw new NomadError("cannot log in", { kind: "overloaded" });
      made.push(token);
      return { secret: `secret-${made.length}`, expiresAt: lifeMs === undefined ? undefined : clock.now() + lifeMs };
    },
    clock,
  );
  return { clock, jwt, made, source, fail: (value: boolean) => (broken = value) };
}

describe("login by an auth method", () => {
  it("happens once for many calls at one moment", async () => {
    const { source, made } = login(60_000);
    expect(await Promise.all([source.current(), source.current(), source.current()])).toEqual(Array(3).fill("secret-1"));
    expect(made).toEqual(["jwt-1"]);
  });

  it("is renewed before the token expires", async () => {
    const { source, clock } = login(60_000);
    await source.current();
    await clock.advance(41_000);
    expect(await source.current()).toBe("secret-1");
    await clock.advance(2_000);
    expect(await source.current()).toBe("secret-2");
  });

  it("is not renewed when the token does not expire, but when the JWT changed or Nomad rejects it", async () => {
    const { source, clock, jwt, made } = login(undefined);
    await source.current();
    await clock.advance(10_000_000);
    expect(await source.current()).toBe("secret-1");
    jwt.now = "jwt-2";
    expect(await source.current()).toBe("secret-2");
    expect(source.rejected("secret-2")).toBe(true);
    expect(await source.current()).toBe("secret-3");
    expect(made).toEqual(["jwt-1", "jwt-2", "jwt-2"]);
  });

  it("keeps the old token while a renewal fails and that one still lives", async () => {
    const { source, clock, fail } = login(60_000);
    await source.current();
    fail(true);
    await clock.advance(50_000);
    expect(await source.current()).toBe("secret-1");
    await clock.advance(11_000);
    await expect(source.current()).rejects.toMatchObject({ kind: "overloaded" });
    fail(false);
    expect(await source.current()).toBe("secret-2");
  });

  it("repeats a call once, even a write, when the token is no longer known", async () => {
    let logins = 0;
    const server = await startHttpServer((request, response) => {
      if (request.url === "/v1/acl/login") {
        logins += 1;
        response.end(JSON.stringify({ SecretID: `acl-${logins}`, ExpirationTime: "2027-01-05T00:00:00Z" }));
      } else if (request.headers.authorization === "Bearer acl-1") response.writeHead(403).end("ACL token not found");
      else response.end("{}");
    });
    const clock = new FakeClock();
    const options = { clock, random: new SeededRandom(), token: "the-jwt", loginAuthMethod: "nops-workload" };
    const transport = createTransport({ address: server.address, ...options });
    try {
      await transport.call({
        operation: "register",
        what: "register",
        effect: "write",
        method: "PUT",
        path: "/v1/jobs",
        body: {},
      });
      expect(server.seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
        ["/v1/acl/login", undefined],
        ["/v1/jobs", "Bearer acl-1"],
        ["/v1/acl/login", undefined],
        ["/v1/jobs", "Bearer acl-2"],
      ]);
      expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ AuthMethodName: "nops-workload", LoginToken: "the-jwt" });
    } finally {
      transport.close();
      await server.close();
    }
  });

  it("shows the JWT at the door of a task's socket, which lets nobody in without a token", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nops-login-"));
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push([request.url, request.headers.authorization]);
      request.resume().on("end", () => response.end(request.url === "/v1/acl/login" ? '{"SecretID":"acl-1"}' : "{}"));
    });
    await new Promise<void>((resolve) => server.listen(join(folder, "api.sock"), resolve));
    const options = { clock: new FakeClock(), random: new SeededRandom(), token: "the-jwt", loginAuthMethod: "nops-workload" };
    const transport = createTransport({ address: `unix://${join(folder, "api.sock")}`, ...options });
    try {
      await transport.call({ operation: "list", what: "list", effect: "read", method: "GET", path: "/v1/jobs" });
      expect(seen).toEqual([
        ["/v1/acl/login", "Bearer the-jwt"],
        ["/v1/jobs", "Bearer acl-1"],
      ]);
    } finally {
      transport.close();
      server.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("is refused without a JWT", async () => {
    const source = loginToken(
      { current: async () => undefined, rejected: () => false },
      async () => ({ secret: "", expiresAt: undefined }),
      new FakeClock(),
    );
    await expect(source.current()).rejects.toMatchObject({ kind: "not_sent" });
  });
});
