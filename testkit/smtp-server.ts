import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";

/** A mail as a test server took it. */
export interface SeenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body, lines joined by "\n". */
  readonly text: string;
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: SeenMail[];
  /** Every line that clients sent outside the text of a mail. */
  readonly commands: string[];
  close(): Promise<void>;
}

/** An SMTP server on a free loopback port, without TLS, that takes AUTH PLAIN. `refuse` answers a command instead: `550 no`. */
export async function startSmtpServer(refuse: (command: string) => string | undefined = () => undefined): Promise<SmtpServer> {
  const mails: SeenMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    void converse(socket, mails, commands, refuse);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    mails,
    commands,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function converse(
  socket: Socket,
  mails: SeenMail[],
  commands: string[],
  refuse: (command: string) => string | undefined,
): Promise<void> {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let from = "";
  let to: string[] = [];
  let text: string[] | undefined;
  say("220 test ESMTP");
  for await (const line of createInterface({ input: socket })) {
    if (text !== undefined) {
      if (line !== ".") text.push(line.startsWith(".") ? line.slice(1) : line);
      else {
        mails.push({ from, to, text: text.join("\n") });
        text = undefined;
        to = [];
        say("250 taken");
      }
      continue;
    }
    commands.push(line);
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === "MAIL") from = between(line);
    if (verb === "RCPT") to.push(between(line));
    const refusal = refuse(line);
    if (verb === "DATA" && refusal === undefined) text = [];
    say(refusal ?? answers[verb] ?? "250 ok");
    if (verb === "QUIT") socket.end();
  }
}

const answers: Readonly<Record<string, string>> = {
  EHLO: "250-test\r\n250 AUTH PLAIN",
  AUTH: "235 welcome",
  DATA: "354 go on",
  STAR: "502 no TLS here",
  QUIT: "221 bye",
};

function between(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? "";
}
