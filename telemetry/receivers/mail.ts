/** Telling people by mail (operator §23): one plain text message over SMTP, whose Message-ID lets mail programs drop a second delivery. */
import { detailOf, type NotificationMessage, titleOf } from "./message.ts";

/** Where a mail goes. */
export interface MailAddresses {
  readonly from: string;
  readonly to: readonly string[];
}

/**
 * Sends one mail by the server of a `smtp://` or `smtps://` URL, which may hold user and password.
 * A password goes to another host only under TLS: by `smtps`, or after STARTTLS, without which the mail fails.
 * `signal` ends it in any state: a server that only ever says a little more is not idle, and no time-out of SMTP ends it.
 * @throws Error with `code` (`EAUTH`, `ECONNECTION`, …) and, where the server answered, `responseCode`
 */
export async function sendMail(
  url: string,
  { from, to }: MailAddresses,
  message: NotificationMessage,
  signal: AbortSignal,
): Promise<void> {
  const server = smtpServer(url);
  // Loaded when there is a mail to send: most processes send none, and start sooner without it.
  const { createTransport } = await import("nodemailer");
  const transport = createTransport(
    {
      url: server.href,
      requireTLS: server.username !== "" && !isLoopback(server.hostname),
      // A server that never ends its side would keep the process alive after everything else has stopped.
      socketCloseTimeout: 1_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  try {
    await transport.sendMail({
      to: [...to],
      subject: titleOf(message),
      text: [titleOf(message), detailOf(message), ...(message.url === undefined ? [] : [message.url])].join("\n\n"),
      messageId: `<${message.deployment.id}.${message.deployment.state}.${message.kind}@nops>`,
      headers: { "Auto-Submitted": "auto-generated" },
      signal,
    });
  } finally {
    transport.close();
  }
}

function smtpServer(url: string): URL {
  const server = URL.canParse(url) ? new URL(url) : undefined;
  if (server !== undefined && /^smtps?:$/.test(server.protocol) && server.hostname !== "") return server;
  throw Object.assign(new Error("the URL of a mail server begins with smtp:// or smtps://"), {
    code: "not an smtp:// or smtps:// URL",
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
