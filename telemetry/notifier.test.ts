import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../model/clock.ts";
import { silentLog } from "../model/log.ts";
import { aDeployment } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { type SmtpServer, startSmtpServer } from "../testkit/smtp-server.ts";
import { type HttpReceiver, type NotificationQueue, Notifier, type QueuedNotification, type Receiver } from "./notifier.ts";
import type { ReceiverType } from "./receivers/requests.ts";
import { receiverRequest } from "./receivers/requests.ts";

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

function queueOf(...notifications: Partial<QueuedNotification>[]) {
  const outcomes: unknown[] = [];
  const usual: QueuedNotification = { id: 1, kind: "failed", deployment: message.deployment, attempt: 1, deliveredTo: [] };
  const waiting = (notifications.length === 0 ? [{}] : notifications).map((each) => ({ ...usual, ...each }));
  return {
    outcomes,
    claimNotifications: () => Promise.resolve(waiting.splice(0)),
    markDelivered: (id: number) => Promise.resolve(void outcomes.push(["delivered", id])),
    markFailed: (id: number, failure: unknown) => Promise.resolve(void outcomes.push(["failed", id, failure])),
  };
}

/** One round; it is over when the notifier sets the timer of the next. */
async function run(queue: NotificationQueue, receivers: readonly Receiver[], failures: string[] = []): Promise<void> {
  let nextRound: () => void;
  const over = new Promise<void>((resolve) => (nextRound = resolve));
  const clock: Clock = {
    now: () => 1_000_000,
    setTimer: (ms) => {
      if (ms === 30_000) nextRound();
      return { cancel: () => undefined };
    },
    sleep: () => Promise.resolve(),
  };
  const notifier = new Notifier({
    queue,
    receivers,
    publicUrl: "https://nops.example/",
    clock,
    log: silentLog,
    onFailure: (name) => failures.push(name),
  });
  notifier.wake();
  await over;
  await notifier.stop();
}

describe("notifier", () => {
  it("tells every receiver and marks the notification delivered", async () => {
    const queue = queueOf();
    await run(queue, [receiver("a", "/a"), receiver("b", "/b")]);
    expect(received.map((request) => request.path).toSorted()).toEqual(["/a?key=s3cret", "/b?key=s3cret"]);
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

  it("tries for an hour, then gives up", async () => {
    const queue = queueOf(...Array.from({ length: 13 }, (_, at) => ({ attempt: at + 1 })));
    status = 500;
    await run(queue, [receiver("a", "/a")]);
    const retries = queue.outcomes.map((outcome) => (outcome as [string, number, { retryAt?: string }])[2].retryAt);
    const delays = retries.slice(0, -1).map((at) => Date.parse(at ?? "") - 1_000_000);
    expect(delays.reduce((sum, delay) => sum + delay, 0) / 60_000).toBeCloseTo(60, -1);
    expect(retries.at(-1)).toBeUndefined();
  });

  it.each([
    ["pending_approval", "pending_approval", 1],
    ["pending_approval", "completed", 0],
    ["promotion_wait", "applying", 1],
    ["promotion_wait", "completed", 0],
    ["failed", "failed", 1],
  ] as const)("a second try tells of %s while the deployment is in %s: %i times", async (kind, state, times) => {
    const queue = queueOf({ attempt: 2, kind, deployment: aDeployment({ state }) });
    await run(queue, [receiver("a", "/a")]);
    expect(received).toHaveLength(times);
    expect(queue.outcomes).toEqual([["delivered", 1]]);
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

describe("a receiver that hangs", () => {
  let smtp: SmtpServer;
  let asked: Promise<void>;
  let time: FakeClock;

  // It says a little more each time it is heard, so that no time-out of a connection ends it.
  beforeEach(async () => {
    time = new FakeClock();
    let onAsked: () => void;
    asked = new Promise((resolve) => (onAsked = resolve));
    smtp = await startSmtpServer((line) => {
      if (line.startsWith("EHLO")) onAsked();
      return "250-one more";
    });
  });
  afterEach(() => smtp.close());

  const notifierOf = (queue: NotificationQueue, others: readonly Receiver[] = []): Notifier => {
    const url = () => `smtp://127.0.0.1:${smtp.port}`;
    const mail = {
      name: "mail",
      type: "email",
      url,
      from: "nops@example.com",
      to: ["ops@example.com"],
      wants: () => true,
    } as const;
    const options = { queue, receivers: [mail, ...others], publicUrl: undefined, clock: time, log: silentLog };
    return new Notifier({ ...options, onFailure: () => undefined });
  };

  it("is given up after ten seconds, and asked once in a round", async () => {
    const queue = queueOf({}, { id: 2 });
    const notifier = notifierOf(queue);
    notifier.wake();
    await asked;
    await time.advance(10_000);
    await notifier.stop();
    expect(queue.outcomes).toMatchObject([
      ["failed", 1, { error: "mail: did not take it in time" }],
      ["failed", 2, { error: "mail: hung just before" }],
    ]);
    expect(smtp.commands.filter((line) => line.startsWith("EHLO"))).toHaveLength(1);
  });

  it("keeps no other receiver waiting", async () => {
    const told = new Promise((resolve) => server.once("request", resolve));
    const queue = queueOf();
    const notifier = notifierOf(queue, [receiver("hook", "/hook")]);
    notifier.wake();
    await Promise.all([asked, told]);
    expect(queue.outcomes).toEqual([]);
    const stopped = notifier.stop();
    await time.advance(2_000);
    await stopped;
  });

  it("does not hold up the end of nops, after which it is tried again whichever attempt it was", async () => {
    const queue = queueOf({ attempt: 13 }, { id: 2 });
    const notifier = notifierOf(queue);
    notifier.wake();
    await asked;
    const stopped = notifier.stop();
    await time.advance(2_000);
    await stopped;
    expect(queue.outcomes).toMatchObject([["failed", 1, { retryAt: expect.any(String) as string }]]);
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
