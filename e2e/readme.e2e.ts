/** The README's tour, command by command, against a demo that was started as the README says. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type NopsProcess, startNopsProcess } from "../testkit/nops-process.ts";

const readme = readFileSync("README.md", "utf8");
const blocks = [...readme.matchAll(/^```sh tour\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");

let demo: NopsProcess;
let address: string;
let tokenFile: string;
let repository: string;

beforeAll(async () => {
  demo = startNopsProcess(["demo", "--port", "0"]);
  const [, exported = "", token = ""] = await demo.printed(/export NOPS_ADDR=(\S+) NOPS_TOKEN_FILE=(\S+)/);
  address = exported;
  tokenFile = token;
  repository = (await demo.printed(/Repository\s+(\S+)/))[1] ?? "";
});

afterAll(async () => {
  demo.kill("SIGTERM");
  await demo.finished;
});

function shell(script: string) {
  return spawnSync("bash", ["-euo", "pipefail", "-c", script], {
    encoding: "utf8",
    env: { ...process.env, NOPS_ADDR: address, NOPS_TOKEN_FILE: tokenFile, NO_COLOR: "1" },
  });
}

function nopsJson(args: string): unknown {
  const { stdout, stderr, status } = shell(`npx nops ${args} --json`);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
}

describe("README", () => {
  it("names the two commands of a fresh machine", () => {
    expect(readme).toContain("npm ci && npm run demo");
    expect(readme).toContain("npm ci && npm test");
  });

  it("has a tour", () => {
    expect(blocks.length).toBeGreaterThanOrEqual(4);
  });

  it.each(blocks.map((block, index) => ({ index, block })))("runs block $index", async ({ block }) => {
    // The demo's first deployments have to be there before anybody can read about them.
    shell("npx nops wait web --timeout 30s");
    const script = block.replaceAll("DEMO_REPOSITORY", repository);
    const { status, stdout, stderr } = shell(script);
    expect(status, `${script}\n${stdout}\n${stderr}`).toBe(0);
  });

  it("left shop approved and web with three allocations", () => {
    expect(nopsJson("job shop")).toMatchObject({ sync: "sync", last_deployment: { state: "completed", policy: "approval" } });
    expect(nopsJson("job web")).toMatchObject({ sync: "sync", last_deployment: { commit_subject: "Three webs" } });
  });
});
