app {
  url = ""
}

pack {
  name        = "nops"
  description = "GitOps operator for Nomad: brings the cluster's jobs to what git says"
  version     = "0.1.0"
}
