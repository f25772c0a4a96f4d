import type { PhaseYaml } from "../config/schema.ts";

/** Pipelines that count while the project has no file of its own (workspace §2). `eject` prints their YAML. */

/** Deploy: the services, then wait until the project's jobs are healthy, then say so. */
export function defaultDeploy(anyJob: boolean): readonly PhaseYaml[] {
  const start: PhaseYaml = {
    name: "start",
    description: "wait until the project's jobs are healthy",
    steps: [{ name: "healthy", type: "builtin", cmd: "nomad_wait_healthy" }],
  };
  return [
    { name: "services", deploy_services: true, steps: [] },
    // A workspace of shell steps alone has nothing to wait for and needs no Nomad.
    ...(anyJob ? [start] : []),
    {
      name: "post-deploy",
      untracked: true,
      steps: [{ name: "done", type: "builtin", cmd: "message", with: { level: "success", text: "${project.name} is deployed" } }],
    },
  ];
}

/** The only phase of a service that has a job file and no pipeline (workspace §M1). */
export function defaultRelease(service: string): readonly PhaseYaml[] {
  return [
    {
      name: "release",
      steps: [{ name: "register", type: "builtin", cmd: "nomad_job_run", with: { service } }],
    },
  ];
}

/** Reset: ask, then stop and remove every job with the project's label. Variables stay. */
export const defaultReset: readonly PhaseYaml[] = [
  {
    name: "pre",
    untracked: true,
    steps: [
      { name: "confirm", type: "builtin", cmd: "confirm", with: { message: "Remove every job of ${project.name} from Nomad?" } },
    ],
  },
  { name: "stop", steps: [{ name: "jobs", type: "builtin", cmd: "nomad_remove_project_jobs" }] },
];

/** Run: register the jobs of the enabled services in order of `depends_on`. */
export const defaultRun: readonly PhaseYaml[] = [
  { name: "_start", steps: [{ name: "services", type: "builtin", cmd: "services_start" }] },
];

/** Stop: stop every job with the project's label; their definitions stay in Nomad. */
export const defaultStop: readonly PhaseYaml[] = [
  { name: "_stop", steps: [{ name: "jobs", type: "builtin", cmd: "project_jobs_stop" }] },
];

/** Before every stop: daemons know no journal, Nomad is asked for them (workspace §17). */
export const reapDaemons: PhaseYaml = {
  name: "_auto_reap_daemons",
  steps: [{ name: "daemons", type: "builtin", cmd: "daemons_reap" }],
};

/** First step of every deploy (workspace §3.7). */
export const renderEnv: PhaseYaml = {
  name: "env",
  untracked: true,
  steps: [{ name: "render-env", description: "write .nops/env", type: "builtin", cmd: "render_env" }],
};

/** The built-in deploy pipeline as a file to start from; a test keeps it equal to `defaultDeploy`. */
export const defaultDeployYaml = `# The deploy pipeline that nops uses while there is no workspace/deploy.yml.
# A file with phases replaces it whole.
phases:
  # The pipelines of the enabled services stand here, in the order of their \`after\`.
  - name: services
    deploy_services: true

  # Runs again only when something changed; add a \`check\` to look at Nomad on every deploy.
  - name: start
    description: wait until the project's jobs are healthy
    steps:
      - name: healthy
        type: builtin
        cmd: nomad_wait_healthy

  - name: post-deploy
    untracked: true
    steps:
      - name: done
        type: builtin
        cmd: message
        with:
          level: success
          text: "\${project.name} is deployed"
`;

/** The built-in reset pipeline as a file to start from. */
export const defaultResetYaml = `# The reset pipeline that nops uses while there is no workspace/reset.yml.
phases:
  - name: pre
    untracked: true
    steps:
      - name: confirm
        type: builtin
        cmd: confirm
        with:
          message: "Remove every job of \${project.name} from Nomad?"

  - name: stop
    steps:
      - name: jobs
        type: builtin
        cmd: nomad_remove_project_jobs
`;
