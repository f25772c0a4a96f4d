import { daemonsReap, projectJobsStop, serviceRemove, servicesStart } from "./engine.ts";
import {
  nomadJobDispatch,
  nomadJobRun,
  nomadJobStop,
  nomadJobsRunning,
  nomadPeriodicForce,
  nomadRemoveProjectJobs,
  nomadWaitHealthy,
} from "./jobs.ts";
import { confirm, dirsEnsure, message, removePaths, renderEnvFile } from "./local.ts";
import { configKeysPresent, envKeysPresent, executableInPath, fileExists, httpCheck, shell, tcpReachable } from "./predicates.ts";
import type { Builtin } from "./types.ts";
import { nomadNamespaceApply, nomadRemoveProjectVars, nomadVarCheck, nomadVarPut } from "./variables.ts";

/** Every builtin by the name that pipelines use (workspace §4.1, §M3). */
export const builtins: ReadonlyMap<string, Builtin> = new Map(
  Object.entries({
    message,
    confirm,
    dirs_ensure: dirsEnsure,
    remove_paths: removePaths,
    render_env: renderEnvFile,
    http_check: httpCheck,
    tcp_reachable: tcpReachable,
    file_exists: fileExists,
    env_keys_present: envKeysPresent,
    config_keys_present: configKeysPresent,
    shell,
    executable_in_path: executableInPath,
    nomad_job_run: nomadJobRun,
    nomad_wait_healthy: nomadWaitHealthy,
    nomad_jobs_running: nomadJobsRunning,
    nomad_job_stop: nomadJobStop,
    nomad_job_dispatch: nomadJobDispatch,
    nomad_periodic_force: nomadPeriodicForce,
    nomad_remove_project_jobs: nomadRemoveProjectJobs,
    nomad_var_put: nomadVarPut,
    nomad_var_check: nomadVarCheck,
    nomad_namespace_apply: nomadNamespaceApply,
    nomad_remove_project_vars: nomadRemoveProjectVars,
    services_start: servicesStart,
    project_jobs_stop: projectJobsStop,
    daemons_reap: daemonsReap,
    service_remove: serviceRemove,
  }),
);
