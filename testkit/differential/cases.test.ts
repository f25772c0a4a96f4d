import { describe, expect, it } from "vitest";
import { createSimulator } from "../../simulator/server.ts";
import { plain, readCases } from "./cases.ts";
import { type Normal, normalAnswer } from "./normal.ts";

const cases = await readCases();

/** The last answer of the simulator alone, whose client is silent as that of the real server was. */
async function answered(one: (typeof cases)[number]): Promise<Normal | undefined> {
  const simulator = createSimulator();
  for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
  let last: Normal | undefined;
  try {
    for (const { method, path, body } of one.exchanges) {
      const answer = await simulator.request({ method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      const { status, headers } = answer;
      last = plain(
        normalAnswer({ status, type: headers["content-type"] ?? "", index: headers["x-nomad-index"], body: answer.body }),
      );
      simulator.advance(100);
    }
  } finally {
    await simulator.close();
  }
  return last;
}

describe("differences that were found between a real server and the simulator", () => {
  it.each(cases.map((one) => [one.name, one] as const))("%s: answered as the real one does", async (_, one) => {
    expect(await answered(one)).toEqual(one.answer);
  });
});
