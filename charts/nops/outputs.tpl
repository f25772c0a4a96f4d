nops runs as job [[ var "job_name" . ]] in namespace [[ var "namespace" . ]].

Attach its rights, if ACLs are on:

  nomad acl policy apply -namespace [[ var "namespace" . ]] -job [[ var "job_name" . ]] nops deploy/policy.hcl

Create a token for people on the host of its volume:

  nops token create NAME --capability admin --data-dir FOLDER
