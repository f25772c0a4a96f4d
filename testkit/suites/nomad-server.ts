import { expect } from "vitest";
import { systemClock, systemRandom } from "../../cmd/system-clock.ts";
import { NomadError, type NomadErrorKind } from "../../model/errors.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import type { JobSpec, Submission } from "../../model/nomad.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";

/** A Nomad that the conformance suite may write to as it likes. */
export interface ConformanceServer {
  readonly address: string;
  /** Management token, where ACLs are on. */
  readonly token?: string | undefined;
  /** Digits of a duration in nanoseconds that must come back unchanged. Default: one that no JavaScript number can hold. */
  readonly bigInteger?: string | undefined;
  stop(): Promise<void>;
}

/** What the parts of the suite share. Filled before the first test. */
export interface Bench {
  readonly address: string;
  readonly token: string | undefined;
  readonly client: NomadClient;
  readonly bigInteger: string;
  /** A job ID of its own for each test, so that tests need no order. Its jobs are purged at the end. */
  id(stem: string): string;
  key(id: string): JobKey;
  /** Purges what the tests made. */
  clean(): Promise<void>;
}

export const noSubmission: Submission = { source: "", format: "hcl2", variables: "" };

/** Milliseconds that scheduling and a task's start may take on a busy machine. */
export const PATIENCE_MS = 25_000;

export function openBench(server: ConformanceServer): Bench {
  const client = createNomadClient({
    address: server.address,
    clock: systemClock,
    random: systemRandom,
    token: server.token,
  });
  const made: JobKey[] = [];
  return {
    address: server.address,
    token: server.token,
    client,
    bigInteger: server.bigInteger ?? "9007199254740993",
    id(stem) {
      const id = `${stem}-${Buffer.from(systemRandom.bytes(3)).toString("hex")}`;
      made.push(jobKey("default", id));
      return id;
    },
    key: (id) => jobKey("default", id),
    async clean() {
      for (const key of made) await client.purgeJob(key);
      client.close();
    },
  };
}

/** A job of one group that sleeps, in HCL. `extra` goes into the job block. */
export function sleeper(
  id: string,
  options: { readonly count?: number; readonly extra?: string; readonly args?: string } = {},
): string {
  return `job "${id}" {
  type = "service"
  update {
    min_healthy_time  = "0s"
    healthy_deadline  = "20s"
    progress_deadline = "30s"
  }
  ${options.extra ?? ""}
  group "main" {
    count = ${options.count ?? 1}
    restart {
      attempts = 0
      mode     = "fail"
    }
    task "sleep" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["${options.args ?? "3600"}"]
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
  }
}
`;
}

/** A batch job whose one task runs a shell line, in HCL. */
export function script(id: string, line: string, extra = ""): string {
  return `job "${id}" {
  type = "batch"
  ${extra}
  group "main" {
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }
    task "run" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", ${JSON.stringify(line)}]
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
  }
}
`;
}

/** A periodic batch job: running without ever starting anything. */
export function nightly(id: string, extra = ""): string {
  return script(id, "exit 0", `${extra}\n  periodic {\n    crons = ["0 3 1 1 *"]\n  }`);
}

/** A parameterized batch job. */
export function hook(id: string): string {
  return script(
    id,
    "exit 0",
    `parameterized {
    payload       = "forbidden"
    meta_required = ["nops_job_id"]
    meta_optional = ["nops_commit"]
  }`,
  );
}

export function parsed(bench: Bench, source: string): Promise<JobSpec> {
  return bench.client.parse({ format: "hcl2", source, variables: "" }, "default");
}

/** Parses and registers a job that does not exist yet. */
export async function registered(bench: Bench, source: string): Promise<JobSpec> {
  const spec = await parsed(bench, source);
  await bench.client.register(spec, 0, { source, format: "hcl2", variables: "" });
  return spec;
}

/** Expects a `NomadError` of one kind; gives it back for a look at its text. */
export async function failure(kind: NomadErrorKind, call: Promise<unknown>): Promise<NomadError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NomadError);
  const nomadError = error as NomadError;
  expect(`${nomadError.kind}: ${nomadError.message}`).toMatch(new RegExp(`^${kind}: `));
  return nomadError;
}

/** Looks again and again until `found` gives something; fails when patience ends. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = systemClock.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (systemClock.now() > deadline) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s`);
    await systemClock.sleep(50);
  }
}
