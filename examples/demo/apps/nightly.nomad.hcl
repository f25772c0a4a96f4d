# A periodic job: nops registers it, Nomad launches it by its own clock.
job "nightly" {
  type = "batch"

  meta {
    nops_managed = "true"
    nops_policy  = "auto"
  }

  periodic {
    crons            = ["0 3 * * *"]
    prohibit_overlap = true
  }

  group "nightly" {
    task "report" {
      driver = "raw_exec"

      config {
        command = "/bin/echo"
        args    = ["nightly report"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
