/** Job files for end-to-end tests: small, fast, and understood alike by a real Nomad and the simulator. */

export interface JobText {
  readonly id: string;
  readonly meta?: Readonly<Record<string, string>>;
  readonly namespace?: string;
  readonly count?: number;
  /** The task ends with an error at once; "healthy" comes late enough that even a slow machine sees the error first. */
  readonly fails?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Extra lines of the group. */
  readonly group?: string;
  /** Extra lines of the update block. */
  readonly update?: string;
  readonly cpu?: number;
}

/** A managed service that runs until it is stopped. */
export function serviceJob(job: JobText): string {
  return `job "${job.id}" {
  type = "service"
${job.namespace === undefined ? "" : `  namespace = "${job.namespace}"\n`}
  meta {
${keys({ nops_managed: "true", nops_policy: "auto", ...job.meta })}
  }

  group "main" {
    count = ${job.count ?? 1}

    restart {
      attempts = 0
      mode     = "fail"
    }

    reschedule {
      attempts  = 0
      unlimited = false
    }

    update {
      min_healthy_time  = "${job.fails === true ? "3s" : "100ms"}"
      healthy_deadline  = "5s"
      progress_deadline = "6s"
${job.update ?? ""}
    }
${job.group ?? ""}
    task "main" {
      driver       = "raw_exec"
      kill_timeout = "100ms"

      config {
        command = "/bin/sh"
        args    = ["-c", "${job.fails === true ? "exit 1" : "sleep 86400"}"]
      }

      env {
${keys(job.env ?? {})}
      }

      resources {
        cpu    = ${job.cpu ?? 20}
        memory = 16
      }
    }
  }
}
`;
}

/** A managed batch job that runs `run` once; Nomad makes no deployment of its own for it. */
export function batchJob(id: string, run: string, meta: Readonly<Record<string, string>> = {}): string {
  return `job "${id}" {
  type = "batch"

  meta {
${keys({ nops_managed: "true", nops_policy: "auto", ...meta })}
  }

  group "main" {
    task "main" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", ${JSON.stringify(run)}]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
`;
}

/** A hook: a parameterized batch job that runs `run` once. */
export function hookJob(id: string, run: string, timeout = "20s", namespace?: string): string {
  return `job "${id}" {
  type = "batch"
${namespace === undefined ? "" : `  namespace = "${namespace}"\n`}
  meta {
    nops_role    = "hook"
    nops_timeout = "${timeout}"
  }

  parameterized {
    payload       = "forbidden"
    meta_optional = ["nops_deployment_id", "nops_job_id", "nops_phase"]
  }

  group "main" {
    restart {
      attempts = 0
      mode     = "fail"
    }

    reschedule {
      attempts  = 0
      unlimited = false
    }

    task "main" {
      driver       = "raw_exec"
      kill_timeout = "100ms"

      config {
        command = "/bin/sh"
        args    = ["-c", ${JSON.stringify(run)}]
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
`;
}

function keys(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `    ${key} = ${JSON.stringify(value)}`)
    .join("\n");
}
