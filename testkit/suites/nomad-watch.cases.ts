import { connect, createServer, type Server, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../cmd/system-clock.ts";
import { silentLog } from "../../model/log.ts";
import { nextBlockIndex } from "../../nomad/blocking.ts";
import { createNomadClient } from "../../nomad/client.ts";
import { createNomadWatch } from "../../nomad/watch.ts";
import type { WatchSignal } from "../../nomad/watch-options.ts";
import { type Bench, eventually, noSubmission, parsed, registered, sleeper } from "./nomad-server.ts";

export function watchCases(use: () => Bench): void {
  describe("blocking queries", () => blockingCases(use));
  describe("the event stream", () => streamCases(use));
}

function blockingCases(use: () => Bench): void {
  it("answer at once for index 0, then when the job changes", async () => {
    const bench = use();
    const id = bench.id("block");
    const key = bench.key(id);
    await registered(bench, sleeper(id, { count: 0 }));
    const now = await bench.client.blockOnJob(key, { index: 0, waitMs: 5_000 });
    expect(now.value).toMatchObject({ ID: id });
    const live = await eventually("a quiet job", async () => {
      const { index } = await bench.client.blockOnJob(key, { index: 0, waitMs: 1_000 });
      const later = await bench.client.blockOnJob(key, { index, waitMs: 300 });
      return later.index === index ? later : undefined;
    });
    const waiting = bench.client.blockOnJob(key, { index: live.index, waitMs: 20_000 });
    const spec = await parsed(bench, sleeper(id, { count: 0, args: "1" }));
    await bench.client.register(spec, live.value?.JobModifyIndex ?? 0, noSubmission);
    const changed = await waiting;
    expect(changed.index).toBeGreaterThan(live.index);
    expect(changed.value).toMatchObject({ Version: 1 });
  });

  it("answer the same when the wait runs out", async () => {
    const bench = use();
    const id = bench.id("block");
    await registered(bench, sleeper(id, { count: 0 }));
    const quiet = await eventually("a quiet list", async () => {
      const { index } = await bench.client.blockOnAllocations(bench.key(id), { index: 0, waitMs: 1_000 });
      const asked = nextBlockIndex(0, index);
      const later = await bench.client.blockOnAllocations(bench.key(id), { index: asked, waitMs: 200 });
      return later.index === index ? later : undefined;
    });
    expect(quiet.value).toEqual([]);
  });
}

function streamCases(use: () => Bench): void {
  it("lists first, then tells of every job that is registered, placed and purged", async () => {
    const bench = use();
    const watch = startWatch(bench, bench.address);
    try {
      await eventually("the first list", async () => watch.signals.find(({ kind }) => kind === "listed"));
      const id = bench.id("seen");
      await registered(bench, sleeper(id));
      const live = await bench.client.readJob(bench.key(id));
      const jobEvents = () => watch.about(id).filter(({ topic }) => topic === "Job");
      await eventually("its registration", async () => jobEvents().find((s) => s.jobModifyIndex === live?.JobModifyIndex));
      await eventually("its allocation", async () => watch.about(id).find(({ topic }) => topic === "Allocation"));
      await eventually("its deployment", async () => watch.about(id).find(({ topic }) => topic === "Deployment"));
      await bench.client.purgeJob(bench.key(id));
      await eventually("its end", async () => jobEvents().find(({ jobModifyIndex }) => jobModifyIndex === 0));
    } finally {
      await watch.stop();
    }
  });

  it("misses nothing when the connection is cut", async () => {
    const bench = use();
    const proxy = await cuttingProxy(bench.address);
    const watch = startWatch(bench, proxy.address);
    try {
      await eventually("the first list", async () => watch.signals.find(({ kind }) => kind === "listed"));
      const id = bench.id("gap");
      proxy.refuse(true);
      await registered(bench, sleeper(id, { count: 0 }));
      const live = await bench.client.readJob(bench.key(id));
      proxy.refuse(false);
      await eventually("the job after the gap", async () =>
        watch.signals.find(
          (signal) =>
            (signal.kind === "listed" && signal.jobs.some((job) => job.ID === id)) ||
            (signal.kind === "job" && signal.key === bench.key(id) && signal.jobModifyIndex === live?.JobModifyIndex),
        ),
      );
      const other = bench.id("after");
      await registered(bench, sleeper(other, { count: 0 }));
      await eventually("an event on the new connection", async () => watch.about(other)[0]);
    } finally {
      await watch.stop();
      await proxy.close();
    }
  });
}

function startWatch(bench: Bench, address: string) {
  const abort = new AbortController();
  const signals: WatchSignal[] = [];
  const client = createNomadClient({ address, token: bench.token, clock: systemClock, random: systemRandom });
  const watch = createNomadWatch({ client, clock: systemClock, random: systemRandom, log: silentLog });
  const running = watch.watch("default", (signal) => signals.push(signal), abort);
  return {
    signals,
    about: (id: string) => signals.filter((signal) => signal.kind === "job").filter(({ key }) => key === bench.key(id)),
    async stop() {
      abort.abort();
      await running;
      client.close();
    },
  };
}

/** A way to the server that can be cut: open connections end, new ones are refused at once. */
async function cuttingProxy(address: string) {
  const { hostname, port } = new URL(address);
  const sockets = new Set<Socket>();
  let refusing = false;
  const server = createServer((incoming) => {
    if (refusing) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(Number(port), hostname);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => sockets.forEach((socket) => void socket.destroy());
  return {
    address: `http://127.0.0.1:${portOf(server)}`,
    refuse(value: boolean) {
      refusing = value;
      if (value) cut();
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
