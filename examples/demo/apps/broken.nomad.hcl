# A mistake on purpose: the group is never closed. nops names the line, and all other jobs go on.
job "broken" {
  group "broken" {
    task "server" {
      driver = "raw_exec"
    }
}
