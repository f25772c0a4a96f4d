import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commandLine } from "../../testkit/command-line.ts";

const asked: string[] = [];
const rows: Record<"jobs" | "deployments" | "events", object[]> = { jobs: [], deployments: [], events: [] };

beforeEach(() => {
  asked.length = 0;
  for (const list of Object.values(rows)) list.length = 0;
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(`${url.pathname.replace("/api/v1/", "")}${decodeURIComponent(url.search)}`);
    const name = url.pathname.split("/").at(-1) as keyof typeof rows;
    return Response.json({ [name]: rows[name] ?? [], next_cursor: null });
  });
});
afterEach(() => vi.unstubAllGlobals());

describe.each(["deployments", "events"] as const)("%s --job", (command) => {
  it("of a job that nobody knows ends with 4 and prints nothing", async () => {
    for (const json of [[], ["--json"]]) {
      const ran = await commandLine([command, "--job", "nosuch", ...json]);
      expect(ran).toMatchObject({ code: 4, out: "" });
      expect(ran.err).toContain("no job");
    }
    expect((await commandLine([command, "--job", "nosuch", "-n", "apps"])).err).toContain('no job "nosuch" in namespace "apps"');
  });

  it("of a known job without entries ends with 0", async () => {
    rows.jobs.push({ job: "web" });
    const ran = await commandLine([command, "--job", "web"]);
    expect(ran).toMatchObject({ code: 0, err: expect.stringMatching(/^no (deployment|event) matches\n$/) });
    expect(JSON.parse((await commandLine([command, "--job", "web", "--json"])).out)).toEqual({
      [command]: [],
      next_cursor: null,
    });
  });

  it("takes a job with its namespace, and asks after the job only when nothing was found", async () => {
    await commandLine([command, "--job", "apps/web"]);
    await commandLine([command, "--job", "web"], { env: { NOPS_NAMESPACE: "ops" } });
    await commandLine([command]);
    expect(asked.map((path) => path.replace(/&(limit|state)=\w+/, ""))).toEqual([
      `${command}?job=web&namespace=apps`,
      "jobs?job=web&namespace=apps",
      `${command}?job=web&namespace=ops`,
      "jobs?job=web&namespace=ops",
      `${command}?limit=50`,
    ]);
  });
});
