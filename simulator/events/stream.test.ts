import { describe, expect, it } from "vitest";
import { sampleJob, script } from "../sample.ts";
import { createSimulator, type Simulator } from "../server.ts";

interface Line {
  readonly Index?: number;
  readonly Events?: readonly {
    readonly Topic: string;
    readonly Type: string;
    readonly Key: string;
    readonly Namespace: string;
  }[];
}

function listen(simulator: Simulator, query = "", headers: Record<string, string> = {}) {
  const lines: Line[] = [];
  let ended = false;
  const path = `/v1/event/stream?${query}`;
  const stream = simulator.stream(
    { path, headers },
    (line) => lines.push(JSON.parse(line) as Line),
    () => {
      ended = true;
    },
  );
  return { lines, events: () => lines.flatMap((line) => line.Events ?? []), ended: () => ended, close: () => stream.close() };
}

describe("the event stream", () => {
  it("begins with a heartbeat, beats on, and tells what happens in the order of the indexes", () => {
    const simulator = createSimulator();
    const stream = listen(simulator);
    const start = stream.lines.length;
    simulator.register(sampleJob("a"));
    simulator.advance(70_000);
    expect(stream.lines[0]).toEqual({});
    expect(stream.lines.slice(start).filter((line) => line.Index === undefined)).toHaveLength(2);
    const indexes = stream.lines.flatMap((line) => (line.Index === undefined ? [] : [line.Index]));
    expect(indexes).toEqual([...indexes].sort((x, y) => x - y));
    expect(stream.events().map((one) => one.Type)).toEqual(
      expect.arrayContaining(["JobRegistered", "EvaluationUpdated", "AllocationUpdated"]),
    );
  });

  it("keeps a hundred frames; what is older is gone without a word", () => {
    const simulator = createSimulator();
    for (let i = 0; i < 150; i++)
      simulator.register(sampleJob(`job-${i}`, { ParameterizedJob: {}, Type: "batch" }, {}, script("exit 0")));
    const jobs = listen(simulator, "index=1&topic=Job").events();
    expect(jobs.length).toBeLessThanOrEqual(100);
    expect(jobs.at(-1)?.Key).toBe("job-149");
    expect(jobs[0]?.Key).not.toBe("job-0");
  });

  it("waits for news when it starts ahead of all", () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("a"));
    const stream = listen(simulator, `index=${simulator.state.index + 1}&topic=Job`);
    expect(stream.events()).toEqual([]);
    simulator.register(sampleJob("b"));
    expect(stream.events().map((one) => one.Key)).toContain("b");
    expect(stream.events().map((one) => one.Key)).not.toContain("a");
  });

  it("tells only of the topics, keys and namespaces that were asked for", () => {
    const simulator = createSimulator();
    const stream = listen(simulator, "topic=Job:b");
    const other = listen(simulator, "topic=Job&namespace=other");
    simulator.register(sampleJob("a"));
    simulator.register(sampleJob("b"));
    simulator.advance(1000);
    expect(new Set(stream.events().map((one) => `${one.Topic}:${one.Key}`))).toEqual(new Set(["Job:b"]));
    expect(other.events()).toEqual([]);
  });

  it("ends before its first line for who may not listen", () => {
    const simulator = createSimulator({ acl: true });
    const stream = listen(simulator, "topic=Job");
    expect([stream.lines, stream.ended()]).toEqual([[], true]);
  });

  it("swallows frames when that fault is on, and the listener cannot tell", () => {
    const simulator = createSimulator();
    const stream = listen(simulator, "topic=Job");
    simulator.faults.skipEvents = 1;
    simulator.register(sampleJob("a"));
    simulator.faults.skipEvents = 0;
    simulator.register(sampleJob("b"));
    expect(new Set(stream.events().map((one) => one.Key))).toEqual(new Set(["b"]));
  });

  it("is closed by a restore and by the end of the server", async () => {
    const simulator = createSimulator();
    const first = listen(simulator);
    simulator.restore(simulator.snapshot());
    expect(first.ended()).toBe(true);
    const second = listen(simulator);
    await simulator.close();
    expect(second.ended()).toBe(true);
  });

  it("comes line by line over a socket", async () => {
    const simulator = createSimulator();
    const server = await simulator.listen();
    const abort = new AbortController();
    try {
      const response = await fetch(`${server.address}/v1/event/stream?topic=Job`, { signal: abort.signal });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      simulator.register(sampleJob("a"));
      while (!text.includes('"JobRegistered"')) {
        const part = await reader?.read();
        if (part === undefined || part.done) break;
        text += part.value;
      }
      expect(text.split("\n")[0]).toBe("{}");
      expect(text).toContain('"Key":"a"');
    } finally {
      abort.abort();
      await simulator.close();
    }
  });
});
