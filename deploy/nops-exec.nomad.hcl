# nops as a Nomad job without a container engine: Node and nops are installed on the host.

variable "driver" {
  type        = string
  default     = "exec"
  description = "exec, or raw_exec where the client allows it"
}

variable "node" {
  type        = string
  default     = "/usr/bin/node"
  description = "Node 20.19, 22.12, 24 or newer"
}

variable "program" {
  type        = string
  default     = "/usr/lib/node_modules/nops/dist/cmd/nops.js"
  description = "The installed program: npm install --global nops"
}

variable "namespace" {
  type    = string
  default = "nops"
}

variable "data_dir" {
  type        = string
  default     = "/var/lib/nops"
  description = "Folder on the host for the database and the git caches, 0700, of the task's user"
}

variable "config" {
  type        = string
  description = "Text of nops.yml; nomad.address is set by the job"
}

job "nops" {
  namespace = var.namespace
  type      = "service"

  group "nops" {
    count = 1

    update {
      max_parallel      = 1
      health_check      = "checks"
      min_healthy_time  = "5s"
      healthy_deadline  = "5m"
      progress_deadline = "10m"
    }

    restart {
      attempts = 10
      interval = "10m"
      delay    = "5s"
      mode     = "delay"
    }

    network {
      port "http" {}
    }

    service {
      name     = "nops"
      provider = "nomad"
      port     = "http"
      tags     = ["metrics"]

      check {
        type     = "http"
        path     = "/healthz"
        interval = "10s"
        timeout  = "3s"
      }
    }

    task "nops" {
      driver = var.driver

      identity {
        env  = false
        file = true
      }

      config {
        command = var.node
        args    = [var.program, "serve", "--config", "${NOMAD_TASK_DIR}/nops.yml", "--data-dir", var.data_dir]
      }

      env {
        NOPS_NOMAD_ADDRESS    = "unix://${NOMAD_SECRETS_DIR}/api.sock"
        NOPS_NOMAD_TOKEN_FILE = "${NOMAD_SECRETS_DIR}/nomad_token"
        NOPS_HTTP_LISTEN      = "${NOMAD_ADDR_http}"
      }

      template {
        data        = var.config
        destination = "local/nops.yml"
      }

      kill_signal  = "SIGTERM"
      kill_timeout = "30s"

      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
