# Deployed by nops as soon as it changes: the policy is auto.
variable "greeting" {
  type    = string
  default = "hello"
}

job "web" {
  type = "service"

  meta {
    nops_managed = "true"
    nops_policy  = "auto"
  }

  group "web" {
    count = 2

    update {
      min_healthy_time = "1s"
      healthy_deadline = "30s"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "while true; do echo ${var.greeting}; sleep 5; done"]
      }

      env {
        GREETING  = var.greeting
        API_TOKEN = "not-a-real-secret"
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
