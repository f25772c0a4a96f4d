import { expect, it } from "vitest";
import { formatEvent } from "./format.ts";

it("stamps lines with the time as every other command writes it", () => {
  const at = "2026-05-04T10:00:01.234Z";
  expect(formatEvent({ event: "phase_started", phase: "verify", at }, { colour: false })).toEqual([
    "[2026-05-04T10:00:01Z] Phase: verify",
  ]);
});
