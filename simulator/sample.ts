import { at } from "./replay/view.ts";
import type { Simulator } from "./server.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A small job as clients send it: one group `g`, one task `t` that sleeps for ever. For tests and measurements. */
export function sampleJob(id: string, job: Fields = {}, group: Fields = {}, task: Fields = {}): Fields {
  return {
    ID: id,
    Name: id,
    Type: "service",
    ...job,
    TaskGroups: [
      {
        Name: "g",
        Count: 1,
        ...group,
        Tasks: [{ Name: "t", Driver: "raw_exec", Config: { command: "/bin/sleep", args: ["infinity"] }, ...task }],
      },
    ],
  };
}

/** The configuration of a task that runs a script. */
export function script(text: string): Fields {
  return { Config: { command: "/bin/sh", args: ["-c", text] } };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The JSON of the body; undefined when it is none. */
  readonly json: unknown;
  /** A value in it, by a path such as `Versions.0.ID`. */
  at(path: string): unknown;
  /** The ids of its rows. */
  ids(): unknown[];
}

/** One exchange in process. */
export async function ask(simulator: Simulator, method: string, path: string, body?: object | string): Promise<Answer> {
  const found = await simulator.request({ method, path, ...(body === undefined ? {} : { body }) });
  const json: unknown = found.headers["content-type"]?.startsWith("application/json") ? JSON.parse(found.body) : undefined;
  return {
    status: found.status,
    headers: found.headers,
    text: found.body,
    json,
    at: (path) => at(json, path),
    ids: () => (Array.isArray(json) ? json.map((row) => at(row, "ID")) : []),
  };
}
