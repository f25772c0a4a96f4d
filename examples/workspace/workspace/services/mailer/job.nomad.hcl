job "shop-mailer" {
  type = "service"

  group "mailer" {
    update {
      min_healthy_time = "500ms"
      healthy_deadline = "30s"
    }

    task "mailer" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["86400"]
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
  }
}
