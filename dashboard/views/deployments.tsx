/** What happened: deployments by day, newest first. */
import { useState } from "preact/hooks";
import type { DeploymentJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Badge, Commit, Link, Name, Problem, Time } from "../components.tsx";
import { dayOf, visible } from "../format.ts";
import { useResource } from "../resource.ts";
import { jobPath } from "../route.ts";

export function Deployments() {
  const { data, error } = useResource(api.deployments, "deployments");
  const [state, setState] = useState("");
  const all = data?.deployments ?? [];
  const shown = all.filter((row) => state === "" || row.state === state);
  const days = [...new Set(shown.map((row) => dayOf(row.created_at)))];
  return (
    <section aria-labelledby="deployments">
      <h2 id="deployments">Deployments</h2>
      <Problem error={error} />
      <p class="toolbar">
        <label>
          State{" "}
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">all ({all.length})</option>
            {[...new Set(all.map((row) => row.state))].sort().map((each) => (
              <option key={each} value={each}>
                {each} ({all.filter((row) => row.state === each).length})
              </option>
            ))}
          </select>
        </label>
      </p>
      {data !== undefined && shown.length === 0 ? <p class="quiet">No deployment yet.</p> : null}
      {days.map((day) => (
        <section key={day} aria-label={day}>
          <h3>{day}</h3>
          <DeploymentList rows={shown.filter((row) => dayOf(row.created_at) === day)} />
        </section>
      ))}
    </section>
  );
}

export function DeploymentList({ rows }: { readonly rows: readonly DeploymentJson[] }) {
  return (
    <ul class="plain">
      {rows.map((row) => (
        <li key={row.id}>
          <Badge state={row.state} />{" "}
          <Link to={jobPath(row.namespace, row.job)}>
            <Name text={`${row.namespace}/${row.job}`} />
          </Link>{" "}
          <Commit sha={row.commit_sha} subject={row.commit_subject} /> <Link to={`/deployments/${row.id}`}>deployment</Link>{" "}
          <Time at={row.updated_at} />
          {row.decided_by === null ? null : <span class="quiet"> decided by {visible(row.decided_by)}</span>}
          {row.error === null ? null : <div class="problem">{visible(row.error)}</div>}
        </li>
      ))}
    </ul>
  );
}
