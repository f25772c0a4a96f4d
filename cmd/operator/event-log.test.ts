import { expect, it } from "vitest";
import type { EventRecord } from "../../model/deployment.ts";
import type { Log } from "../../model/log.ts";
import { silentLog } from "../../model/log.ts";
import { type EventSource, startEventLog } from "./event-log.ts";

function scene(after = 0) {
  const events: EventRecord[] = [];
  const lines: string[] = [];
  let listener: (() => void) | undefined;
  let broken = false;
  const store: EventSource = {
    onEvents: (call) => {
      listener = call;
      return () => {
        listener = undefined;
      };
    },
    eventsAfter: async (id, limit) => {
      if (broken) throw new Error("disk full");
      return events.filter((event) => event.id > id).slice(0, limit);
    },
  };
  const line =
    (level: string) =>
    (message: string, fields?: object): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log: Log = { ...silentLog, info: line("info"), warn: line("warn") };
  const record = (over: Partial<EventRecord>): void => {
    events.push({ id: events.length + 1, kind: "state", actor: "nops", message: "m", ...over } as EventRecord);
    listener?.();
  };
  return { lines, record, eventLog: startEventLog(store, log, after), breakStore: () => (broken = true), heard: () => listener };
}

it("writes each event once, failures as warnings, in their order", async () => {
  const { lines, record, eventLog } = scene();
  const about = { namespace: "default", jobId: "web", deploymentId: "01D" };
  record({ ...about, fromState: "detected", toState: "applying" });
  record({ ...about, fromState: "applying", toState: "failed", reason: "allocation_failed", message: "not healthy" });
  await eventLog.stop();
  const place = '"namespace":"default","job":"web","deployment":"01D"';
  expect(lines).toEqual([
    `info an event was recorded {"kind":"state",${place},"from":"detected","to":"applying","actor":"nops","event":"m"}`,
    `warn a deployment failed {"kind":"state",${place},"from":"applying","to":"failed","actor":"nops","reason":"allocation_failed","event":"not healthy"}`,
  ]);
});

it("writes what comes while it writes, however much, and nothing of an earlier process", async () => {
  const { lines, record, eventLog } = scene(2);
  for (let n = 0; n < 250; n += 1) record({});
  await Promise.resolve();
  record({ message: "the last" });
  await eventLog.stop();
  expect(lines).toHaveLength(249);
  expect(lines.at(-1)).toContain("the last");
});

it("goes on after a read that failed, and hears nothing once it is stopped", async () => {
  const { lines, record, eventLog, breakStore, heard } = scene();
  breakStore();
  record({});
  await eventLog.stop();
  expect(lines).toEqual(['warn events cannot be read for the log {"error":"disk full"}']);
  expect(heard()).toBeUndefined();
});
