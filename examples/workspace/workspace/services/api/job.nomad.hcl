variable "replicas" {
  type = number
}

job "shop-api" {
  type = "service"

  group "api" {
    count = var.replicas

    update {
      min_healthy_time = "500ms"
      healthy_deadline = "30s"
    }

    task "api" {
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
