/** Is something waiting on me, what runs now, what happened last, and which commit the cluster follows. */
import type { DeploymentJson, JobJson, StatusJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Action, Commit, Link, Problem, Time, Warnings } from "../components.tsx";
import { visible } from "../format.ts";
import { useResource } from "../resource.ts";
import { DeploymentList } from "./deployments.tsx";
import { JobTable } from "./jobs.tsx";

/** In the order in which a person should look at them. */
const attention = ["pending", "blocked", "invalid", "frozen", "paused", "orphan"];
const running = ["detected", "pre_hook", "applying", "post_hook"];
const recentlyCompleted = 5;

export function Overview() {
  const jobs = useResource(api.jobs, "jobs");
  const deployments = useResource(api.deployments, "deployments");
  const status = useResource(api.status, "status");
  const reload = (): void => {
    jobs.reload();
    status.reload();
  };
  const problem = jobs.error ?? deployments.error ?? status.error;
  const completed = (deployments.data?.deployments ?? []).filter((one) => one.state === "completed").slice(0, recentlyCompleted);
  return (
    <>
      <Problem error={problem} />
      {status.data === undefined ? null : <Strip status={status.data} reload={reload} />}
      {jobs.data === undefined ? null : <Attention jobs={jobs.data.jobs} />}
      <InProgress rows={(deployments.data?.deployments ?? []).filter((one) => running.includes(one.state))} />
      <section aria-labelledby="completed">
        <h2 id="completed">Recently completed</h2>
        {completed.length === 0 ? <p class="quiet">Nothing yet.</p> : <DeploymentList rows={completed} />}
      </section>
    </>
  );
}

function Strip({ status, reload }: { readonly status: StatusJson; readonly reload: () => void }) {
  return (
    <section class="strip" aria-label="Repositories and Nomad">
      {status.repositories.map((repository) => (
        <p key={repository.name}>
          <strong>{visible(repository.name)}</strong> <Commit sha={repository.commit} subject={repository.commit_subject} />{" "}
          <span class="quiet">
            {repository.managed_jobs} jobs, looked at <Time at={repository.last_check_at} />
          </span>
          {repository.issues.length === 0 ? null : (
            <>
              , <Link to="/status">{issueWords(repository.issues)}</Link>
            </>
          )}
        </p>
      ))}
      <Warnings status={status} />
      <Action label="Fetch now" run={api.fetch} done={reload} />
    </section>
  );
}

function issueWords(issues: StatusJson["repositories"][number]["issues"]): string {
  const errors = issues.filter((issue) => issue.severity === "error").length;
  return errors === 0 ? `${issues.length} warnings` : `${errors} ${errors === 1 ? "error" : "errors"} in its files`;
}

function Attention({ jobs }: { readonly jobs: readonly JobJson[] }) {
  const waiting = jobs
    .filter((job) => attention.includes(job.sync))
    .sort((a, b) => attention.indexOf(a.sync) - attention.indexOf(b.sync));
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {waiting.length === 0 ? <p class="quiet">Nothing waits for a person.</p> : <JobTable jobs={waiting} />}
    </section>
  );
}

function InProgress({ rows }: { readonly rows: readonly DeploymentJson[] }) {
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby="progress">
      <h2 id="progress">In progress</h2>
      <DeploymentList rows={rows} />
    </section>
  );
}
