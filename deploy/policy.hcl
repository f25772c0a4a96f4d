# What nops needs in each namespace it manages, and nothing more. Apply it for the job that runs nops:
#
#   nomad acl policy apply -namespace nops -job nops nops deploy/policy.hcl
#
# Repeat the block for every namespace of nomad.namespaces. A job that mounts a host volume needs
# `host_volume "NAME" { policy = "write" }` beside it, one that mounts a CSI volume the capability csi-mount-volume.
# For a nops outside of Nomad leave out -namespace and -job, and make a token: nomad acl token create -name nops -policy nops
# `agent { policy = "read" }` is optional: with it nops doctor can tell whether it knows the server's version.

namespace "default" {
  capabilities = [
    "list-jobs",
    "read-job",
    "parse-job",
    "plan-job",
    "register-job",
    "deregister-job", # hooks that ran too long, and revisions of hooks that nobody needs any more
    "dispatch-job",   # hooks
    "read-logs",      # the tail of a failed hook's log
    "promote-deployment",
    "fail-deployment",
  ]
}
