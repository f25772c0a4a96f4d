import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { silentLog } from "../model/log.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { heldBytesAfter } from "../testkit/held-bytes.ts";
import { startHttpServer, type TestServer } from "../testkit/http-server.ts";
import { createNomadClient } from "./client.ts";
import { createNomadWatch } from "./watch.ts";
import type { NomadWatchOptions, WatchSignal, WatchState } from "./watch-options.ts";

/** A Nomad reduced to its job list and its event stream, both in the hands of the test. */
interface Scene {
  readonly server: TestServer;
  readonly clock: FakeClock;
  readonly signals: WatchSignal[];
  readonly states: WatchState[];
  /** Index that the next lists answer with. */
  index: number;
  /** What the next streams do; default: begin with a heartbeat and stay open. */
  onStream: (response: ServerResponse) => void;
  /** What the next lists do; default: answer with one job. */
  onList: ((response: ServerResponse) => void) | undefined;
  readonly streams: ServerResponse[];
  streamUrls(): string[];
  lists(): number;
  signalsOf(kind: WatchSignal["kind"]): WatchSignal[];
  stop(): Promise<void>;
}

const scenes: Scene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.stop();
});

async function scene(options: Partial<NomadWatchOptions> = {}, prepare: (scene: Scene) => void = () => {}): Promise<Scene> {
  const clock = new FakeClock();
  const streams: ServerResponse[] = [];
  const server = await startHttpServer((request, response) => {
    if (request.url.startsWith("/v1/event/stream")) {
      response.on("error", () => {});
      streams.push(response);
      made.onStream(response);
    } else if (made.onList !== undefined) made.onList(response);
    else
      response.setHeader("x-nomad-index", made.index).end(`[{"ID":"web","Namespace":"default","JobModifyIndex":${made.index}}]`);
  });
  const client = createNomadClient({ address: server.address, clock, random: new SeededRandom() });
  const abort = new AbortController();
  const signals: WatchSignal[] = [];
  const states: WatchState[] = [];
  const made: Scene = {
    server,
    clock,
    signals,
    states,
    streams,
    index: 100,
    onStream: (response) => void response.write("{}\n"),
    onList: undefined,
    streamUrls: () => server.seen.map(({ url }) => url).filter((url) => url.startsWith("/v1/event/stream")),
    lists: () => server.seen.filter(({ url }) => url.startsWith("/v1/jobs")).length,
    signalsOf: (kind) => signals.filter((signal) => signal.kind === kind),
    async stop() {
      abort.abort();
      await running;
      client.close();
      await server.close();
      expect(clock.pending).toBe(0);
    },
  };
  prepare(made);
  const watch = createNomadWatch({
    client,
    clock,
    random: new SeededRandom(),
    log: silentLog,
    onState: (s) => states.push(s),
    ...options,
  });
  const running = watch.watch("default", (signal) => signals.push(signal), abort);
  scenes.push(made);
  return made;
}

const jobEvent = (index: number, id = "web") =>
  `${JSON.stringify({
    Index: index,
    Events: [
      {
        Topic: "Job",
        Type: "JobRegistered",
        Key: id,
        Namespace: "default",
        Index: index,
        Payload: { Job: { ID: id, JobModifyIndex: index } },
      },
    ],
  })}\n`;

describe("watching", () => {
  it("begins the stream, lists once, and passes on what is newer than the list", async () => {
    const play = await scene({}, (made) => {
      made.onStream = (response) => void response.write(`{}\n${jobEvent(90, "old")}${jobEvent(120, "new")}`);
    });
    await until(() => play.signalsOf("job").length === 1);
    expect(play.signals.map((signal) => (signal.kind === "job" ? signal.key : `listed at ${signal.index}`))).toEqual([
      "listed at 100",
      "default/new",
    ]);
    expect(play.streamUrls()).toEqual([
      "/v1/event/stream?topic=Job&topic=Allocation&topic=Evaluation&topic=Deployment&namespace=default",
    ]);
    expect(play.lists()).toBe(1);
    play.streams[0]?.write(jobEvent(100, "late") + jobEvent(130));
    await until(() => play.signalsOf("job").length === 2);
    expect(play.signals.at(-1)).toMatchObject({ key: "default/web", index: 130, jobModifyIndex: 130 });
  });

  it("passes on events about allocations at once, whatever the list said", async () => {
    const play = await scene({}, (made) => {
      made.onList = () => {};
      const event = { Topic: "Allocation", Namespace: "default", Key: "a", FilterKeys: ["web"], Index: 5 };
      made.onStream = (response) => void response.write(`{}\n${JSON.stringify({ Index: 5, Events: [event] })}\n`);
    });
    await until(() => play.signals.length === 1);
    expect(play.signals[0]).toMatchObject({ kind: "job", key: "default/web", topic: "Allocation" });
  });

  it("lists again every resync interval, and not between", async () => {
    const play = await scene({ resyncIntervalMs: 10_000 });
    await until(() => play.signalsOf("listed").length === 1 && play.clock.pending === 2);
    await play.clock.advance(9_999);
    expect(play.lists()).toBe(1);
    await play.clock.advance(1);
    await until(() => play.signalsOf("listed").length === 2);
    expect(play.streamUrls()).toHaveLength(1);
  });
});

describe("a stream that ends", () => {
  it("is opened again from the last index, after a wait, and a list closes the gap", async () => {
    const play = await scene();
    await until(() => play.signalsOf("listed").length === 1);
    play.streams[0]?.write(jobEvent(150));
    await until(() => play.signalsOf("job").length === 1);
    play.index = 170;
    play.streams[0]?.destroy();
    await until(() => play.states.at(-1)?.connected === false);
    expect(play.streamUrls()).toHaveLength(1);
    await play.clock.advance(1_000);
    await until(() => play.signalsOf("listed").length === 2);
    expect(play.streamUrls()[1]).toContain("&index=150");
    expect(play.states.at(-1)).toMatchObject({ connected: true });
  });

  it("in the middle of a line, at any byte, loses nothing that the next one brings again", async () => {
    const text = `{}\n${jobEvent(150)}`;
    const play = await scene();
    await until(() => play.signalsOf("listed").length === 1);
    play.streams[0]?.write(text.slice(0, -7));
    play.streams[0]?.destroy();
    play.onStream = (response) => void response.write(text);
    await until(() => play.states.at(-1)?.connected === false);
    await play.clock.advance(1_000);
    await until(() => play.signalsOf("job").length === 1);
    expect(play.signalsOf("job")[0]).toMatchObject({ index: 150 });
  });

  it("before it began is a refusal, and is replaced by lists every 30 s", async () => {
    const play = await scene({}, (made) => {
      made.onStream = (response) => void response.end();
    });
    await until(() => play.states.length === 1);
    expect(play.states[0]).toMatchObject({ connected: false, error: { message: expect.stringContaining("before it began") } });
    await until(() => play.signalsOf("listed").length === 1);
    // The wait before the next attempt is the only timer shorter than 30 s.
    const waiting = (): boolean => play.clock.pending === 1 && (play.clock.nextAt ?? 0) - play.clock.now() < 30_000;
    for (let round = 0; round < 40; round += 1) {
      await until(() => play.states.length === round + 1 && waiting());
      await play.clock.step();
    }
    const seconds = (play.clock.now() - new FakeClock().now()) / 1_000;
    expect(seconds).toBeGreaterThan(300);
    expect(play.lists()).toBeLessThanOrEqual(seconds / 30 + 1);
    expect(play.lists()).toBeGreaterThan(seconds / 65);
  });

  it("that never begins is a refusal after 10 s, though it stays open", async () => {
    const play = await scene({}, (made) => {
      made.onStream = (response) => response.flushHeaders();
    });
    await until(() => play.streams.length === 1 && play.clock.nextAt === play.clock.now() + 10_000);
    await play.clock.advance(9_999);
    expect(play.states).toEqual([]);
    await play.clock.advance(1);
    await until(() => play.states.length === 1);
    expect(play.states[0]?.error?.message).toContain("before it began");
  });

  it("with 403 before the head says so", async () => {
    const play = await scene({}, (made) => {
      made.onStream = (response) => void response.writeHead(403).end("Permission denied");
      made.onList = (response) => void response.writeHead(403).end("Permission denied");
    });
    await until(() => play.states.length === 1);
    expect(play.states[0]?.error).toMatchObject({ kind: "not_permitted", status: 403 });
    expect(play.signals).toEqual([]);
  });

  it("by silence is a dead one, though bytes trickle in", async () => {
    const play = await scene();
    await until(() => play.signalsOf("listed").length === 1 && play.clock.pending === 2);
    await play.clock.advance(59_000);
    play.streams[0]?.write("{}\n");
    await until(() => play.clock.nextAt === play.clock.now() + 60_000);
    await play.clock.advance(59_999);
    play.streams[0]?.write('{"Index":');
    expect(play.states.at(-1)).toMatchObject({ connected: true });
    await play.clock.advance(1);
    await until(() => play.states.at(-1)?.connected === false);
    expect(play.states.at(-1)?.error?.message).toContain("sent nothing for 60 s");
  });
});

describe("an index that went back", () => {
  it("makes the watch start over: without the old index, at once, listing everything", async () => {
    const play = await scene();
    await until(() => play.signalsOf("listed").length === 1);
    play.streams[0]?.write(jobEvent(150));
    await until(() => play.signalsOf("job").length === 1);
    play.index = 8;
    play.streams[0]?.destroy();
    await until(() => play.states.at(-1)?.connected === false);
    await play.clock.advance(1_000);
    await until(() => play.streamUrls().length === 3 && play.signalsOf("listed").length === 3);
    expect(play.streamUrls()[1]).toContain("&index=150");
    expect(play.streamUrls()[2]).not.toContain("index");
    play.streams[2]?.write(jobEvent(41, "after"));
    await until(() => play.signalsOf("job").length === 2);
    expect(play.signalsOf("job")[1]).toMatchObject({ key: "default/after", index: 41 });
    expect(play.signalsOf("listed").map((signal) => signal.kind === "listed" && signal.wentBack)).toEqual([false, true, false]);
  });

  it("is not taken from events of other topics, whose indexes a job list need not reach", async () => {
    const play = await scene({ resyncIntervalMs: 5_000 });
    await until(() => play.signalsOf("listed").length === 1);
    const event = { Topic: "Evaluation", Namespace: "default", Key: "e", FilterKeys: ["web"], Index: 500 };
    play.streams[0]?.write(`${JSON.stringify({ Index: 500, Events: [event] })}\n`);
    await until(() => play.signalsOf("job").length === 1);
    await play.clock.advance(5_000);
    await until(() => play.signalsOf("listed").length === 2);
    expect(play.streamUrls()).toHaveLength(1);
  });
});

describe("a line that cannot be read", () => {
  it.each([
    ["too long", `{"Index":5,"Events":[${" ".repeat(3_000)}]}\n`],
    ["no JSON", "oops\n"],
  ])("(%s) is passed over and a list takes its place", async (_, line) => {
    const play = await scene({ maxLineBytes: 1_000 });
    await until(() => play.signalsOf("listed").length === 1);
    play.streams[0]?.write(line);
    await until(() => play.signalsOf("listed").length === 2);
    play.streams[0]?.write(jobEvent(150));
    await until(() => play.signalsOf("job").length === 1);
    expect(play.streamUrls()).toHaveLength(1);
  });

  it("and never ends takes no memory and counts as silence", async () => {
    const play = await scene({ maxLineBytes: 1_000_000 });
    await until(() => play.signalsOf("listed").length === 1);
    const chunk = Buffer.alloc(1_000_000, 120);
    const held = await heldBytesAfter(async () => {
      for (let i = 0; i < 60; i += 1) await new Promise((resolve) => play.streams[0]?.write(chunk, resolve));
    }, 20_000_000);
    expect(held).toBeLessThan(20_000_000);
    await play.clock.advance(60_000);
    await until(() => play.states.at(-1)?.connected === false);
  });
});

describe("the end of a watch", () => {
  it("comes at once, wherever it is", async () => {
    const waitingForList = await scene({}, (made) => {
      made.onList = () => {};
    });
    await until(() => waitingForList.lists() === 1);
    await waitingForList.stop();
    const waitingToRetry = await scene({}, (made) => {
      made.onStream = (response) => void response.end();
    });
    await until(() => waitingToRetry.states.length === 1 && waitingToRetry.clock.pending === 1);
    await waitingToRetry.stop();
    scenes.length = 0;
  });

  it("is not brought about by a receiver that throws", async () => {
    const clock = new FakeClock();
    const server = await startHttpServer((request, response) => {
      if (request.url.startsWith("/v1/event")) response.write(`{}\n${jobEvent(150)}`);
      else response.end("[]");
    });
    const client = createNomadClient({ address: server.address, clock, random: new SeededRandom() });
    const abort = new AbortController();
    let calls = 0;
    const errors: string[] = [];
    const log = { ...silentLog, error: (message: string) => void errors.push(message) };
    const running = createNomadWatch({ client, clock, random: new SeededRandom(), log }).watch(
      "default",
      () => {
        calls += 1;
        throw new Error("receiver");
      },
      abort,
    );
    await until(() => calls === 2);
    abort.abort();
    await running;
    expect(errors).toHaveLength(2);
    client.close();
    await server.close();
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = systemClock.now() + 5_000;
  while (!condition()) {
    if (systemClock.now() > deadline) throw new Error(`did not come true: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
