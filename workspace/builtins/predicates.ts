import { accessSync, constants, existsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";
import { dig } from "../config/template.ts";
import { projectEnv } from "../pipeline/environment.ts";
import { duration, insidePath, stepFailed, text } from "./params.ts";
import { builtin } from "./types.ts";

/** Questions: as a body they are assertions and run on every deploy (workspace §4.1). */

const httpUrl = z.url({ protocol: /^https?$/, error: "an absolute http or https address" });
const count = z.coerce.number().int();

/** One GET, repeated up to `retries` times, until the status and the content are as wanted. Redirects are not followed. */
export const httpCheck = builtin({
  kind: "predicate",
  params: z.strictObject({
    url: httpUrl,
    status: count.min(100).max(599).default(200),
    contains: text.optional(),
    retries: count.min(0).max(1000).default(0),
    interval: duration("1s"),
    timeout: duration("5s"),
  }),
  async run(params, { http, clock, signal }) {
    let got = "";
    for (let attempt = 0; attempt <= params.retries; attempt++) {
      if (attempt > 0) await clock.sleep(params.interval, signal);
      try {
        const answer = await http.get(params.url, params.timeout, signal);
        if (answer.status !== params.status) got = `status ${answer.status}`;
        else if (params.contains !== undefined && !answer.body.includes(params.contains))
          got = "an answer without the wanted text";
        else return;
      } catch (error) {
        signal.throwIfAborted();
        got = messageOf(error);
      }
    }
    const attempts = params.retries + 1;
    const wanted =
      params.contains === undefined ? `status ${params.status}` : `status ${params.status} and the text "${params.contains}"`;
    throw stepFailed(`${params.url}: expected ${wanted}, got ${got} (${attempts} ${attempts === 1 ? "attempt" : "attempts"})`);
  },
});

/** Whether a TCP port answers. */
export const tcpReachable = builtin({
  kind: "predicate",
  params: z.strictObject({ host: text.default("127.0.0.1"), port: count.min(1).max(65535), timeout: duration("5s") }),
  async run({ host, port, timeout }, { clock, signal }) {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host, port });
      const end = (error?: Error): void => {
        timer.cancel();
        signal.removeEventListener("abort", onAbort);
        socket.destroy();
        if (error === undefined) resolve();
        else reject(error);
      };
      const onAbort = (): void => end(signal.reason as Error);
      const timer = clock.setTimer(timeout, () => end(stepFailed(`${host}:${port} did not answer in time`)));
      signal.addEventListener("abort", onAbort, { once: true });
      socket.once("connect", () => end());
      socket.once("error", (error) => end(stepFailed(`${host}:${port} cannot be reached: ${error.message}`)));
    });
  },
});

/** Whether a file of the project is there. */
export const fileExists = builtin({
  kind: "predicate",
  params: z.strictObject({ path: insidePath }),
  async run({ path }, { workspace }) {
    if (statSync(join(workspace.root, path), { throwIfNoEntry: false })?.isFile() !== true)
      throw stepFailed(`there is no file ${path}`);
  },
});

/** Whether the environment of the steps has these keys with a value. */
export const envKeysPresent = builtin({
  kind: "predicate",
  params: z.strictObject({ keys: z.array(z.string()).min(1) }),
  async run({ keys }, { env, workspace, values }) {
    const all: Readonly<Record<string, string>> = { ...env, ...projectEnv(workspace, values) };
    const missing = keys.filter((key) => (all[key] ?? "") === "");
    if (missing.length > 0) throw stepFailed(`not in the environment: ${missing.join(", ")}`);
  },
});

/** Whether `vars` has these keys (dotted paths). */
export const configKeysPresent = builtin({
  kind: "predicate",
  params: z.strictObject({ keys: z.array(z.string()).min(1) }),
  async run({ keys }, { values }) {
    const missing = keys.filter((key) => dig({ ...values.vars() } as Json, key.split(".")) === undefined);
    if (missing.length > 0) throw stepFailed(`not in vars: ${missing.join(", ")}`);
  },
});

/** Whether a command exits 0; always POSIX `sh`, with a timeout of its own. */
export const shell = builtin({
  kind: "predicate",
  params: z.strictObject({ cmd: z.string(), timeout: duration("10s") }),
  async run({ cmd, timeout }, { processes, workspace, env, clock, signal, print }) {
    const limit = new AbortController();
    const expired = stepFailed(`timed out after ${timeout / 1000}s`);
    const timer = timeout === 0 ? undefined : clock.setTimer(timeout, () => limit.abort(expired));
    try {
      const code = await processes.run({
        file: "sh",
        args: ["-c", cmd],
        cwd: workspace.root,
        env,
        stdin: "ignore",
        signal: AbortSignal.any([signal, limit.signal]),
        onLine: (line) => print(line),
      });
      if (code !== 0) throw stepFailed(`exit status ${code}`);
    } finally {
      timer?.cancel();
    }
  },
});

/** Whether a program is on PATH. */
export const executableInPath = builtin({
  kind: "predicate",
  params: z.strictObject({ name: z.string().regex(/^[^/]+$/, "a name without slashes") }),
  async run({ name }, { env }) {
    const found = (env.PATH ?? "").split(delimiter).some((folder) => folder !== "" && isExecutable(join(folder, name)));
    if (!found) throw stepFailed(`${name} is not on PATH`);
  },
});

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
