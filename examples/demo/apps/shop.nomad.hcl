# Waits for a person, then runs its migration first: approve it with `nops approve ID`.
job "shop" {
  type = "service"

  meta {
    nops_managed  = "true"
    nops_policy   = "approval"
    nops_pre_hook = "migrate"
  }

  group "shop" {
    update {
      min_healthy_time = "1s"
      healthy_deadline = "30s"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/bin/sleep"
        args    = ["86400"]
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
