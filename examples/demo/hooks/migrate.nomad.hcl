# A hook: nops registers and dispatches it for the deployments that name it; nobody registers it by hand.
job "migrate" {
  type = "batch"

  meta {
    nops_role    = "hook"
    nops_timeout = "1m"
  }

  parameterized {
    payload       = "forbidden"
    meta_optional = ["nops_deployment_id", "nops_job_id", "nops_commit", "nops_phase"]
  }

  group "migrate" {
    restart {
      attempts = 0
      mode     = "fail"
    }

    reschedule {
      attempts  = 0
      unlimited = false
    }

    task "migrate" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo migrating for $NOMAD_META_nops_job_id; exit 0"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
