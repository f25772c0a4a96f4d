/** Every managed job and orphan: how it stands. */
import { useState } from "preact/hooks";
import type { JobJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Badge, Link, Name, Problem, Time } from "../components.tsx";
import { visible } from "../format.ts";
import { useResource } from "../resource.ts";
import { jobPath } from "../route.ts";

export function Jobs() {
  const { data, error } = useResource(api.jobs, "jobs");
  const [state, setState] = useState("");
  const [text, setText] = useState("");
  const jobs = data?.jobs ?? [];
  const states = [...new Set(jobs.map((job) => job.sync))].sort();
  const shown = jobs.filter(
    (job) => (state === "" || job.sync === state) && `${job.namespace}/${job.job} ${job.file ?? ""}`.includes(text.trim()),
  );
  return (
    <section aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      <Problem error={error} />
      <p class="toolbar">
        <label>
          Sync{" "}
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">all ({jobs.length})</option>
            {states.map((each) => (
              <option key={each} value={each}>
                {each} ({jobs.filter((job) => job.sync === each).length})
              </option>
            ))}
          </select>
        </label>
        <input
          type="search"
          aria-label="Part of a job's name or file"
          placeholder="name or file"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </p>
      {data !== undefined && shown.length === 0 ? <p class="quiet">No job matches.</p> : <JobTable jobs={shown} />}
    </section>
  );
}

export function JobTable({ jobs }: { readonly jobs: readonly JobJson[] }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Sync</th>
            <th scope="col">Policy</th>
            <th scope="col">Last deployment</th>
            <th scope="col">File</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <JobRow key={`${job.namespace}/${job.job}`} job={job} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function JobRow({ job }: { readonly job: JobJson }) {
  const last = job.last_deployment;
  return (
    <tr>
      <th scope="row">
        <Link to={jobPath(job.namespace, job.job)}>
          <Name text={`${job.namespace}/${job.job}`} />
        </Link>
      </th>
      <td>
        <Badge state={job.sync} /> <span class="quiet">{visible(job.message)}</span>
      </td>
      <td class="fixed">{job.policy}</td>
      <td class="fixed">
        {last === null ? (
          "–"
        ) : (
          <Link to={`/deployments/${last.id}`}>
            {last.state} <Time at={last.updated_at} />
          </Link>
        )}
      </td>
      <td class="quiet">{visible(job.file ?? "–")}</td>
    </tr>
  );
}
