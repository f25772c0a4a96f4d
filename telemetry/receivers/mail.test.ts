import { afterEach, describe, expect, it } from "vitest";
import { aDeployment } from "../../testkit/builders.ts";
import { type SmtpServer, startSmtpServer } from "../../testkit/smtp-server.ts";
import { sendMail } from "./mail.ts";

const message = {
  kind: "failed" as const,
  deployment: aDeployment({ state: "failed", error: "boom" }),
  url: "https://nops.example/deployments/1",
};
const addresses = { from: "nops@example.com", to: ["ops@example.com", "lead@example.com"] };

let server: SmtpServer;
afterEach(() => server.close());

const send = (host = "127.0.0.1", sent: Parameters<typeof sendMail>[2] = message, user = "nops:s3cret@") =>
  sendMail(`smtp://${user}${host}:${server.port}`, addresses, sent, AbortSignal.timeout(2_000));

describe("a mail", () => {
  it("goes to everybody, names job, error and page, and no spec", async () => {
    server = await startSmtpServer();
    await send();
    expect(server.mails).toHaveLength(1);
    expect(server.mails[0]).toMatchObject(addresses);
    const text = server.mails[0]?.text ?? "";
    expect(text).toContain(`Subject: ${message.deployment.namespace}/${message.deployment.jobId} failed`);
    expect(text).toContain("From: nops@example.com");
    expect(text).toContain("boom");
    expect(text).toContain(message.url);
    expect(text).not.toContain("TaskGroups");
    expect(server.commands).toContainEqual(`AUTH PLAIN ${Buffer.from("\0nops\0s3cret").toString("base64")}`);
  });

  it("has the same Message-ID when it is sent again", async () => {
    server = await startSmtpServer();
    await send();
    await send();
    const ids = server.mails.map(({ text }) => /^Message-ID: (.+)$/m.exec(text)?.[1]);
    expect(ids[0]).toContain(message.deployment.id);
    expect(ids[1]).toBe(ids[0]);
  });

  it("lets no text of the job become a header or another receiver", async () => {
    server = await startSmtpServer();
    const jobId = "a\r\nBcc: evil@example.com\r\n\r\nbody";
    await send("127.0.0.1", { ...message, deployment: aDeployment({ jobId }) });
    expect(server.mails[0]?.to).toEqual(addresses.to);
    const [head = ""] = (server.mails[0]?.text ?? "").split("\n\n");
    expect(head).not.toMatch(/^Bcc:/m);
  });

  it.each([
    ["the login is refused", /^AUTH/, "535 no", { code: "EAUTH", responseCode: 535 }],
    ["a receiver is refused", /^RCPT/, "550 no such user", { code: "EENVELOPE", responseCode: 550 }],
    ["the server is full", /^DATA/, "452 full", { responseCode: 452 }],
  ])("fails when %s", async (_, command, answer, failure) => {
    server = await startSmtpServer((line) => (command.test(line) ? answer : undefined));
    await expect(send()).rejects.toMatchObject(failure);
    expect(server.mails).toEqual([]);
  });

  it("keeps the password back from another host that offers no TLS", async () => {
    server = await startSmtpServer();
    // Linux takes this address for its own, and it is none of those that stay on the machine by their name.
    await expect(send("0.0.0.0")).rejects.toMatchObject({ code: "ETLS" });
    expect(server.commands.filter((line) => /AUTH|MAIL/.test(line))).toEqual([]);
  });

  it("needs no TLS for a relay without a password", async () => {
    server = await startSmtpServer();
    await send("0.0.0.0", message, "");
    expect(server.mails).toHaveLength(1);
  });

  it.each(["https://mail.example.com", "mail.example.com:25", ""])("refuses the URL %j without showing it", async (url) => {
    server = await startSmtpServer();
    await expect(sendMail(url, addresses, message, AbortSignal.timeout(2_000))).rejects.toThrow(
      "begins with smtp:// or smtps://",
    );
  });
});
