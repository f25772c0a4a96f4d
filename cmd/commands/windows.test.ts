import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commandLine } from "../../testkit/command-line.ts";

const window = {
  open: false,
  changes_at: "2026-03-29T01:30:00.000Z",
  time_zone: "Europe/Rome",
  allow: "0 3 * * * for 1h30m",
  deny: "0 4 30 3 * for 24h",
};
const jobs = [
  { namespace: "default", job: "web", window },
  { namespace: "default", job: "free", window: null },
];

beforeEach(() => {
  vi.stubGlobal("fetch", async () => Response.json({ jobs }));
});
afterEach(() => vi.unstubAllGlobals());

const between = ["--from", "2026-03-29T12:00:00Z", "--to", "2026-04-01T12:00:00Z"];

it("lists the openings of jobs between two times, in their zone and in UTC, less what a deny window takes", async () => {
  const { code, out } = await commandLine(["windows", ...between]);
  expect(code).toBe(0);
  expect(
    out
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    [
      "default/web",
      expect.stringMatching("^2026-03-30 03:00:00"),
      expect.stringMatching("^2026-03-30 04:00:00"),
      "2026-03-30T01:00:00.000Z",
      "2026-03-30T02:00:00.000Z",
    ],
    [
      "default/web",
      expect.stringMatching("^2026-03-31 04:00:00"),
      expect.stringMatching("^2026-03-31 04:30:00"),
      "2026-03-31T02:00:00.000Z",
      "2026-03-31T02:30:00.000Z",
    ],
    [
      "default/web",
      expect.stringMatching("^2026-04-01 03:00:00"),
      expect.stringMatching("^2026-04-01 04:30:00"),
      "2026-04-01T01:00:00.000Z",
      "2026-04-01T02:30:00.000Z",
    ],
  ]);
});

it("as JSON has instants and the zone; without a time it says how each window stands", async () => {
  const { openings } = JSON.parse((await commandLine(["windows", ...between, "--json"])).out);
  expect(openings[0]).toEqual({
    namespace: "default",
    job: "web",
    from: "2026-03-30T01:00:00.000Z",
    to: "2026-03-30T02:00:00.000Z",
    time_zone: "Europe/Rome",
  });
  expect(JSON.parse((await commandLine(["windows", "--json"])).out).windows).toEqual([
    { namespace: "default", job: "web", ...window },
  ]);
});

it("a time that is none is refused", async () => {
  expect(await commandLine(["windows", "--from", "tomorrow"])).toMatchObject({ code: 2, err: expect.stringContaining("--from") });
});
