import { readFile } from "node:fs/promises";
import { type Normal, normalAnswer } from "./normal.ts";
import { jobsOf } from "./shrink.ts";
import type { Exchange, Twins } from "./twins.ts";

/** A difference that was found once, with what the real server answers to the last of its requests. */
export interface Case {
  readonly name: string;
  readonly exchanges: readonly Exchange[];
  readonly answer: Normal;
}

export const casesFile = new URL("./cases.json", import.meta.url);

export async function readCases(): Promise<Case[]> {
  return JSON.parse(await readFile(casesFile, "utf8")) as Case[];
}

/** What both servers answer to the last request of a case. Its jobs are gone afterwards. */
export async function playCase(twins: Twins, one: Case): Promise<{ readonly real: Normal; readonly simulated: Normal }> {
  let last: { readonly real: Normal; readonly simulated: Normal } | undefined;
  try {
    for (const exchange of one.exchanges) {
      const pair = await twins.ask(exchange);
      last = { real: plain(normalAnswer(pair.real)), simulated: plain(normalAnswer(pair.simulated)) };
      await twins.settled();
    }
  } finally {
    for (const id of jobsOf(one.exchanges))
      await twins.ask({ method: "DELETE", path: `/v1/job/${encodeURIComponent(id)}?purge=true` });
    await twins.settled();
    await twins.finishAll();
  }
  if (last === undefined) throw new Error(`the case ${one.name} asks nothing`);
  return last;
}

/** As it comes out of a file; classes of nodes have other names where nodes are others. */
export function plain(answer: Normal): Normal {
  return JSON.parse(JSON.stringify(answer).replace(/v1:\d+/g, "<class>")) as Normal;
}
