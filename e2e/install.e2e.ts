/** The README's way to have `nops` in every folder, as npm does it; offline, since a checkout has everything already. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempFolder } from "../testkit/temp-folder.ts";
import { serviceJob } from "./suites/job-text.ts";

const [command = ""] = /npm install --global \./.exec(readFileSync("README.md", "utf8")) ?? [];

it(`${command} puts nops on the PATH of every other folder, and leaves the checkout as it is`, () => {
  const prefix = tempFolder();
  const packages = readdirSync("node_modules");
  const [program = "", ...args] = command.split(" ");
  const quiet = ["--offline", "--no-audit", "--no-fund", "--prefix", prefix];
  const installed = spawnSync(program, [...args, ...quiet], { encoding: "utf8" });
  expect(installed.status, installed.stderr).toBe(0);
  expect(readdirSync("node_modules")).toEqual(packages);
  const elsewhere = tempFolder();
  writeFileSync(join(elsewhere, "web.nomad.hcl"), serviceJob({ id: "web" }));
  const PATH = `${join(prefix, "bin")}:${process.env.PATH}`;
  const nops = (...words: readonly string[]) =>
    spawnSync("sh", ["-c", `nops ${words.join(" ")}`], { cwd: elsewhere, encoding: "utf8", env: { ...process.env, PATH } });
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(nops("--version").stdout).toBe(`${version}\n`);
  expect(nops("check", "--offline")).toMatchObject({ status: 0, stderr: "1 job file, 0 errors, 0 warnings\n" });
  expect(nops("workspace", "init")).toMatchObject({ status: 0 });
  expect(nops("validate")).toMatchObject({ status: 0 });
});
