job [[ var "job_name" . | quote ]] {
  namespace   = [[ var "namespace" . | quote ]]
  datacenters = [[ var "datacenters" . | toStringList ]]
  type        = "service"

  group "nops" {
    count = 1

    # A new version starts only once the old one has let go of the database.
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

    volume "data" {
      type            = "host"
      source          = [[ var "volume" . | quote ]]
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    network {
      port "http" {
        to = 8080
      }
    }

    service {
      name     = "nops"
      provider = "nomad"
      port     = "http"
      tags     = [[ var "service_tags" . | toStringList ]]

      # Alive, not ready: a standby or an unreachable Nomad is no reason to restart it.
      check {
        type     = "http"
        path     = "/healthz"
        interval = "10s"
        timeout  = "3s"
      }
    }

    task "nops" {
      driver = "docker"

      # The rights come from deploy/policy.hcl, attached to this job; no token is stored anywhere.
      identity {
        env  = false
        file = true
      }

      config {
        image = [[ var "image" . | quote ]]
        ports = ["http"]
        args  = ["serve", "--config", "/local/nops.yml", "--data-dir", "/data/nops"]
      }

      env {
        NOPS_NOMAD_ADDRESS    = "unix://${NOMAD_SECRETS_DIR}/api.sock"
        NOPS_NOMAD_TOKEN_FILE = "${NOMAD_SECRETS_DIR}/nomad_token"
        NOPS_HTTP_LISTEN      = "0.0.0.0:8080"
      }

      template {
        data        = <<-NOPS_CONFIG
[[ var "config" . | replace "${" "$${" | replace "%{" "%%{" ]]
NOPS_CONFIG
        destination = "local/nops.yml"
      }

      volume_mount {
        volume      = "data"
        destination = "/data"
      }

      kill_signal  = "SIGTERM"
      kill_timeout = "30s"

      resources {
        cpu    = [[ var "cpu" . ]]
        memory = [[ var "memory" . ]]
      }
    }
  }
}
