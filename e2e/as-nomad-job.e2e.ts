/** nops as a job of a real Nomad with ACLs on: no more rights than its policy, deploys another job, survives restart and update. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { runNops } from "../testkit/nops-process.ts";
import { findNomad, type RealNomad, startRealNomad } from "../testkit/real-nomad.ts";
import { createTempRepository, type TempRepository } from "../testkit/temp-git.ts";

const binary = await findNomad();

const job = (seconds: number): string => `job "guest" {
  type = "service"
  meta {
    nops_managed = "true"
    nops_policy  = "auto"
  }
  group "guest" {
    update {
      min_healthy_time = "1s"
      healthy_deadline = "30s"
    }
    task "guest" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["${seconds}"]
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
`;

if (binary === undefined) {
  it("announces that nops was not tried as a Nomad job: no `nomad` on PATH", () => {
    console.warn("as-nomad-job: no `nomad` on PATH; deploy/nops-exec.nomad.hcl was not run");
    expect(binary).toBeUndefined();
  });
} else {
  describe("nops as a job of a real Nomad with ACLs on", () => {
    let nomad: RealNomad;
    let repository: TempRepository;
    let folder: string;

    async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await fetch(`${nomad.address}${path}`, {
        method,
        headers: { "x-nomad-token": nomad.token ?? "" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === "" ? undefined : JSON.parse(text)) as T;
    }

    async function until<T>(read: () => Promise<T>, satisfied: (value: T) => boolean, timeoutMs = 60_000): Promise<T> {
      const deadline = systemClock.now() + timeoutMs;
      for (;;) {
        const value = await read().catch(() => undefined as T);
        if (value !== undefined && satisfied(value)) return value;
        if (systemClock.now() > deadline)
          throw new Error(`not reached within ${timeoutMs} ms: ${JSON.stringify(value)?.slice(0, 3_000)}`);
        await systemClock.sleep(200);
      }
    }

    const nopsConfig = (
      loginAuthMethod: string | undefined,
    ): string => `${loginAuthMethod === undefined ? "" : `nomad: { login_auth_method: ${loginAuthMethod} }\n`}repositories:
  - name: main
    url: ${repository.dir}
    poll_interval: 1s
auth:
  anonymous_read: true
log: { format: text }
`;

    async function registerNops(version: string, loginAuthMethod?: string): Promise<void> {
      const variables: Readonly<Record<string, string>> = {
        driver: "raw_exec",
        node: process.execPath,
        program: resolve("dist/cmd/nops.js"),
        data_dir: join(folder, "data"),
        config: nopsConfig(loginAuthMethod),
      };
      const values = Object.entries(variables).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
      const parsed = await api<Record<string, unknown>>("POST", "/v1/jobs/parse?namespace=nops", {
        JobHCL: readFileSync("deploy/nops-exec.nomad.hcl", "utf8"),
        Variables: values.join(""),
      });
      await api("POST", "/v1/jobs", { Job: { ...parsed, Meta: { version } } });
    }

    interface Allocation {
      readonly ID: string;
      readonly JobVersion: number;
      readonly ClientStatus: string;
    }

    const nopsAllocations = (): Promise<readonly Allocation[]> => api("GET", "/v1/job/nops/allocations?namespace=nops");
    const running = (version: number) => (allocations: readonly Allocation[]) =>
      allocations.some((each) => each.ClientStatus === "running" && each.JobVersion === version);
    const guest = () =>
      api<{ Version: number; Status: string; TaskGroups: { Tasks: { Config: { args: string[] } }[] }[] }>("GET", "/v1/job/guest");
    const sleepsFor = (seconds: string) => async (): Promise<boolean> =>
      (await guest()).TaskGroups[0]?.Tasks[0]?.Config.args[0] === seconds;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "nops-as-job-"));
      repository = await createTempRepository();
      await repository.commit({ files: { "guest.nomad.hcl": job(1_001) } });
      nomad = await startRealNomad(binary, { acl: true });
      await api("POST", "/v1/namespace/nops", { Name: "nops" });
      await api("POST", "/v1/acl/policy/nops", {
        Name: "nops",
        Rules: readFileSync("deploy/policy.hcl", "utf8"),
        JobACL: { Namespace: "nops", JobID: "nops" },
      });
      await registerNops("1");
    });

    afterAll(async () => {
      await nomad.stop();
      await repository.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    it("deploys another job by its workload identity, over the task's socket", async () => {
      await until(nopsAllocations, running(0));
      await until(sleepsFor("1001"), (yes) => yes);
      const live = await guest();
      expect((live as unknown as { NomadTokenID: string }).NomadTokenID ?? "").toBe("");
    });

    it("may not reach beyond its policy: another namespace is refused", async () => {
      await api("POST", "/v1/namespace/other", { Name: "other" });
      await repository.commit({
        files: { "other.nomad.hcl": job(5).replace('job "guest" {', 'job "stray" {\n  namespace = "other"') },
      });
      await repository.commit({ files: { "guest.nomad.hcl": job(1_002) } });
      await until(sleepsFor("1002"), (yes) => yes);
      await expect(api("GET", "/v1/job/stray?namespace=other")).rejects.toThrow("404");
    });

    it("survives its own restart", async () => {
      const [allocation] = (await nopsAllocations()).filter((each) => each.ClientStatus === "running");
      await api("POST", `/v1/client/allocation/${allocation?.ID ?? ""}/restart?namespace=nops`, {});
      await repository.commit({ files: { "guest.nomad.hcl": job(1_003) } });
      await until(sleepsFor("1003"), (yes) => yes);
    });

    it("survives its own update", async () => {
      await registerNops("2");
      await until(nopsAllocations, running(1));
      await repository.commit({ files: { "guest.nomad.hcl": job(1_004) } });
      await until(sleepsFor("1004"), (yes) => yes);
    });

    it("logs in by its workload identity where that alone has no rights (login_auth_method)", async () => {
      await api("DELETE", "/v1/acl/policy/nops");
      await api("POST", "/v1/acl/policy/nops-login", { Name: "nops-login", Rules: readFileSync("deploy/policy.hcl", "utf8") });
      await api("POST", "/v1/acl/auth-method", {
        Name: "nops-workload",
        Type: "JWT",
        TokenLocality: "local",
        MaxTokenTTL: "10m",
        Config: {
          JWKSURL: `${nomad.address}/.well-known/jwks.json`,
          JWTSupportedAlgs: ["RS256", "EdDSA"],
          BoundAudiences: ["nomadproject.io"],
          ClaimMappings: { nomad_namespace: "namespace", nomad_job_id: "job" },
        },
      });
      await api("POST", "/v1/acl/binding-rule", {
        AuthMethod: "nops-workload",
        Selector: 'value.namespace == "nops" and value.job == "nops"',
        BindType: "policy",
        BindName: "nops-login",
      });
      await registerNops("3", "nops-workload");
      await until(nopsAllocations, running(2));
      await repository.commit({ files: { "guest.nomad.hcl": job(1_005) } });
      await until(sleepsFor("1005"), (yes) => yes);
      const tokens = await api<readonly { Policies: readonly string[] | null; ExpirationTime?: string }[]>(
        "GET",
        "/v1/acl/tokens",
      );
      const own = tokens.filter((token) => token.Policies?.includes("nops-login"));
      expect(own.length).toBeGreaterThan(0);
      for (const token of own) expect(Date.parse(token.ExpirationTime ?? "")).toBeGreaterThan(systemClock.now());
    });

    it("did each of it once: one deployment a commit, and an unbroken log", async () => {
      const { code, stdout, stderr } = await runNops(["audit", "verify", "--data-dir", join(folder, "data"), "--json"]);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true });
      const versions = await api<{ Versions: unknown[] }>("GET", "/v1/job/guest/versions");
      expect(versions.Versions).toHaveLength(5);
    });
  });
}
