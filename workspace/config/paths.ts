/** Paths inside a workspace (contract §7). */
export const paths = {
  config: "nops.workspace.yml",
  folder: "workspace",
  local: "workspace/local.yml",
  deploy: "workspace/deploy.yml",
  reset: "workspace/reset.yml",
  lifecycle: "workspace/lifecycle.yml",
  snapshot: "workspace/snapshot.yml",
  services: "workspace/services",
  commands: "workspace/commands",
  state: ".nops/deploy/state.yml",
  deployLock: ".nops/deploy/deploy.lock",
  unchanged: ".nops/deploy/unchanged.json",
  snapshotLock: ".nops/snapshots/snapshot.lock",
  snapshots: ".nops/snapshots",
  logs: ".nops/logs",
  env: ".nops/env",
} as const;
