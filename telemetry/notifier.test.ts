import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../model/clock.ts";
import { silentLog } from "../model/log.ts";
import { aDeployment } from "../testkit/builders.ts";
import { startSmtpServer } from "../testkit/smtp-server.ts";
import { type HttpReceiver, Notifier, type QueuedNotification, type Receiver } from "./notifier.ts";
import type { ReceiverType } from "./receivers/requests.ts";
import { receiverRequest } from "./receivers/requests.ts";

const clock: Clock = { now: () => 1_000_000, setTimer: () => ({ cancel: () => undefined }), sleep: () => Promise.resolve() };
const message = {
  kind: "failed" as const,
  deployment: aDeployment({ state: "failed", error: "boom" }),
  url: "https://nops.example/deployments/1",
};

let server: Server;
let address: string;
let status: number;
let received: { path: string; body: string; headers: Record<string, unknown> }[];

beforeEach(async () => {
  status = 200;
  received = [];
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      received.push({ path: request.url ?? "", body, headers: request.headers });
      response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

function receiver(name: string, path: string, type: ReceiverType = "webhook"): HttpReceiver {
  return { name, type, url: () => `${address}${path}?key=s3cret`, token: () => "t0ken", wants: () => true };
}

function queueOf(notification: Partial<QueuedNotification> = {}) {
  const outcomes: unknown[] = [];
  const waiting: QueuedNotification[] = [
    { id: 1, kind: "failed", deployment: message.deployment, attempt: 1, deliveredTo: [], ...notification },
  ];
  return {
    outcomes,
    claimNotifications: () => Promise.resolve(waiting.splice(0)),
    markDelivered: (id: number) => Promise.resolve(void outcomes.push(["delivered", id])),
    markFailed: (id: number, failure: unknown) => Promise.resolve(void outcomes.push(["failed", id, failure])),
  };
}

async function run(queue: ReturnType<typeof queueOf>, receivers: readonly Receiver[], failures: string[] = []): Promise<void> {
  const notifier = new Notifier({
    queue,
    receivers,
    publicUrl: "https://nops.example/",
    clock,
    log: silentLog,
    onFailure: (name) => failures.push(name),
  });
  notifier.wake();
  await notifier.stop();
}

describe("notifier", () => {
  it("tells every receiver and marks the notification delivered", async () => {
    const queue = queueOf();
    await run(queue, [receiver("a", "/a"), receiver("b", "/b")]);
    expect(received.map((request) => request.path)).toEqual(["/a?key=s3cret", "/b?key=s3cret"]);
    expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({
      event: "failed",
      error: "boom",
      url: `https://nops.example/deployments/${message.deployment.id}`,
    });
    expect(received[0]?.headers["authorization"]).toBe("Bearer t0ken");
    expect(queue.outcomes).toEqual([["delivered", 1]]);
  });

  it("tries again later only those that have not got it, without their URL in the error", async () => {
    const queue = queueOf({ deliveredTo: ["a"] });
    const failures: string[] = [];
    status = 500;
    await run(queue, [receiver("a", "/a"), receiver("b", "/b")], failures);
    expect(received.map((request) => request.path)).toEqual(["/b?key=s3cret"]);
    expect(queue.outcomes).toEqual([
      ["failed", 1, { error: "b: answered 500", retryAt: new Date(1_005_000).toISOString(), deliveredTo: ["a"] }],
    ]);
    expect(failures).toEqual(["b"]);
  });

  it("tells by mail too, and a mail that was not taken is tried again without its URL in the error", async () => {
    const smtp = await startSmtpServer((line) => (line.startsWith("RCPT TO:<gone@") ? "550 unknown" : undefined));
    try {
      const url = () => `smtp://nops:s3cret@127.0.0.1:${smtp.port}`;
      const mail = { type: "email" as const, url, from: "nops@example.com", wants: () => true };
      const queue = queueOf();
      await run(queue, [
        { ...mail, name: "ops", to: ["ops@example.com"] },
        { ...mail, name: "gone", to: ["gone@example.com"] },
        { ...mail, name: "wrong", to: ["ops@example.com"], url: () => "https://nops:s3cret@127.0.0.1" },
      ]);
      expect(smtp.mails.map(({ to }) => to)).toEqual([["ops@example.com"]]);
      expect(queue.outcomes).toEqual([
        [
          "failed",
          1,
          {
            error: "gone: EENVELOPE 550; wrong: not an smtp:// or smtps:// URL",
            retryAt: new Date(1_005_000).toISOString(),
            deliveredTo: ["ops"],
          },
        ],
      ]);
    } finally {
      await smtp.close();
    }
  });

  it("gives up after the last attempt", async () => {
    const queue = queueOf({ attempt: 8 });
    status = 500;
    await run(queue, [receiver("a", "/a")]);
    expect(queue.outcomes).toMatchObject([["failed", 1, { retryAt: undefined }]]);
  });

  it("follows no redirect and survives an unreachable receiver", async () => {
    status = 302;
    await run(queueOf(), [receiver("a", "/a")]);
    expect(received.map((request) => request.path)).toEqual(["/a?key=s3cret"]);
    const queue = queueOf();
    await run(queue, [{ ...receiver("gone", "/"), url: () => "http://127.0.0.1:1/?key=s3cret" }]);
    expect(JSON.stringify(queue.outcomes)).toContain("ECONNREFUSED");
    expect(JSON.stringify(queue.outcomes)).not.toContain("s3cret");
  });
});

describe("requests", () => {
  it.each(["webhook", "slack", "discord", "ntfy", "gotify"] as const)("%s names the job and its error, and no spec", (type) => {
    const { body, headers } = receiverRequest(type, message, "t0ken");
    const all = body + JSON.stringify(headers);
    expect(all).toContain(message.deployment.jobId);
    expect(all).toContain("boom");
    expect(all).not.toContain("TaskGroups");
  });

  it("lets no text break out of a header or ping people", () => {
    const nasty = { ...message, deployment: aDeployment({ jobId: "a\r\nx-evil: 1", commitSubject: "@everyone" }) };
    expect(receiverRequest("ntfy", nasty, undefined).headers["title"]).not.toMatch(/[\r\n]/);
    expect(JSON.parse(receiverRequest("discord", nasty, undefined).body)).toMatchObject({ allowed_mentions: { parse: [] } });
  });
});
