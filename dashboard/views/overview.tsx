/** Is something waiting on me, and does the cluster equal git. */
import { useState } from "preact/hooks";
import type { JobJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Action, Badge, Link, Name, Problem, Time } from "../components.tsx";
import { stateWord, visible } from "../format.ts";
import { useResource } from "../resource.ts";
import { jobPath } from "../route.ts";

const attention = ["pending", "blocked", "invalid", "frozen", "paused", "orphan"];

export function Overview() {
  const { data, error, reload } = useResource(api.jobs, "jobs");
  const [filter, setFilter] = useState("");
  const jobs = data?.jobs ?? [];
  const waiting = jobs
    .filter((job) => attention.includes(job.sync))
    .sort((a, b) => attention.indexOf(a.sync) - attention.indexOf(b.sync));
  const states = [...new Set(jobs.map((job) => job.sync))].sort();
  return (
    <>
      <Problem error={error} />
      <section aria-labelledby="attention">
        <h2 id="attention">Needs attention</h2>
        {waiting.length === 0 ? <p class="quiet">Nothing waits for a person.</p> : <JobTable jobs={waiting} />}
      </section>
      <section aria-labelledby="jobs">
        <h2 id="jobs">Jobs</h2>
        <p class="toolbar">
          <label>
            State{" "}
            <select value={filter} onChange={(event) => setFilter(event.currentTarget.value)}>
              <option value="">all ({jobs.length})</option>
              {states.map((state) => (
                <option key={state} value={state}>
                  {stateWord(state)} ({jobs.filter((job) => job.sync === state).length})
                </option>
              ))}
            </select>
          </label>
          <Action label="Fetch now" run={api.fetch} done={reload} />
        </p>
        <JobTable jobs={jobs.filter((job) => filter === "" || job.sync === filter)} />
      </section>
    </>
  );
}

function JobTable({ jobs }: { readonly jobs: readonly JobJson[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">State</th>
          <th scope="col">Policy</th>
          <th scope="col">Last deployment</th>
          <th scope="col">File</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={`${job.namespace}/${job.job}`}>
            <th scope="row">
              <Link to={jobPath(job.namespace, job.job)}>
                <Name text={`${job.namespace}/${job.job}`} />
              </Link>
            </th>
            <td>
              <Badge state={job.sync} /> <span class="quiet">{visible(job.message)}</span>
            </td>
            <td>{job.policy}</td>
            <td>
              {job.last_deployment === null ? (
                "–"
              ) : (
                <Link to={`/deployments/${job.last_deployment.id}`}>
                  {stateWord(job.last_deployment.state)} <Time at={job.last_deployment.updated_at} />
                </Link>
              )}
            </td>
            <td class="quiet">{visible(job.file ?? "–")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
