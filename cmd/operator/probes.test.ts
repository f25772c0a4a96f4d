import { expect, it } from "vitest";
import type { Operator } from "../../controllers/operator.ts";
import { NopsError } from "../../model/errors.ts";
import { FakeClock } from "../../testkit/fake-clock.ts";
import { createProbes, type ProbeParts } from "./probes.ts";

function probesOver(status: Operator["status"], error?: string) {
  const parts = { operator: { status }, contact: { error }, clock: new FakeClock(), isStopping: () => false };
  return createProbes(parts as unknown as ProbeParts);
}

it("is not ready, and says why, while the database answers no more", async () => {
  const broken = (): never => {
    throw new NopsError("the database cannot be read: disk full", { code: "store_failed", hint: "make room" });
  };
  expect(await probesOver(async () => broken(), "connection refused").ready()).toEqual({
    ready: false,
    reasons: { nomad: "connection refused", database: expect.stringMatching(/disk full.*make room/s) },
  });
});

it("is ready when nothing is missing", async () => {
  const status = async () => ({ notReady: {} }) as Awaited<ReturnType<Operator["status"]>>;
  expect(await probesOver(status).ready()).toEqual({ ready: true, reasons: {} });
});
