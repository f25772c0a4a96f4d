/** The audit log, and nops itself: repositories, Nomad, loops, the pause of every job. */
import { useState } from "preact/hooks";
import type { StatusJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Action, Badge, Commit, Facts, Link, Problem, Time, Warnings } from "../components.tsx";
import { shortHash, visible } from "../format.ts";
import { useResource } from "../resource.ts";

export function Events() {
  const { data, error } = useResource(api.events, "events");
  return (
    <section>
      <h2>Events</h2>
      <Problem error={error} />
      <ol class="timeline">
        {(data?.events ?? []).map((event) => (
          <li key={event.id}>
            <Time at={event.time} /> <Badge state={event.to ?? event.kind} />{" "}
            {event.deployment_id === null ? null : (
              <Link to={`/deployments/${event.deployment_id}`}>{visible(`${event.namespace ?? ""}/${event.job ?? ""}`)}</Link>
            )}{" "}
            {visible(event.actor)}: {visible(event.message)}
          </li>
        ))}
      </ol>
    </section>
  );
}

export function Status() {
  const { data, error, reload } = useResource(api.status, "status");
  return (
    <section>
      <h2>Status</h2>
      <Problem error={error} />
      {data === undefined ? null : <StatusBody data={data} reload={reload} />}
    </section>
  );
}

function StatusBody({ data, reload }: { readonly data: StatusJson; readonly reload: () => void }) {
  const [reason, setReason] = useState("");
  return (
    <>
      <Facts
        rows={[
          ["Version", data.version],
          ["Mode", data.mode],
          ["Started", <Time key="s" at={data.started_at} />],
          ["Nomad", visible(`${data.nomad.address}, ${data.nomad.reachable ? "ok" : `unreachable: ${data.nomad.error ?? ""}`}`)],
        ]}
      />
      <Warnings status={data} />
      <p class="toolbar">
        {data.paused.paused ? (
          <>
            Every job is paused by {visible(data.paused.by ?? "")}: {visible(data.paused.reason ?? "")}{" "}
            <Action label="Resume every job" run={api.resumeAll} done={reload} />
          </>
        ) : (
          <>
            <input
              aria-label="Reason of the pause of every job"
              placeholder="why"
              maxLength={500}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
            <Action
              label="Pause every job"
              confirm="Pause every job"
              disabled={reason.trim() === ""}
              run={() => api.pauseAll(reason)}
              done={reload}
            />
          </>
        )}
      </p>
      {data.repositories.map((repository) => (
        <Repository key={repository.name} repository={repository} reload={reload} />
      ))}
      <Loops status={data} />
    </>
  );
}

function Loops({ status }: { readonly status: StatusJson }) {
  return (
    <section aria-labelledby="loops">
      <h3 id="loops">Loops</h3>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Loop</th>
              <th scope="col">Waiting</th>
              <th scope="col">Running</th>
              <th scope="col">Failing</th>
              <th scope="col">Last pass</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(status.queues).map(([name, { waiting, running, failing }]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{waiting}</td>
                <td>{running}</td>
                <td>{failing}</td>
                <td>
                  <Time at={status.loops[name] ?? null} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Repository({
  repository,
  reload,
}: {
  readonly repository: StatusJson["repositories"][number];
  readonly reload: () => void;
}) {
  return (
    <article>
      <h3>{visible(repository.name)}</h3>
      <Facts
        rows={[
          ["Branch", visible(repository.branch)],
          ["Commit", <Commit key="c" sha={repository.commit} subject={repository.commit_subject} />],
          ["Looked at", <Time key="t" at={repository.last_check_at} />],
          ["Jobs", String(repository.managed_jobs)],
        ]}
      />
      {repository.last_error === null ? null : <p class="problem">{visible(repository.last_error)}</p>}
      {repository.held_commit === null ? null : (
        <p class="toolbar problem">
          Commit {shortHash(repository.held_commit)} loses more than half of the jobs and waits for a person.
          <Action
            label="Accept"
            confirm={`Accept ${shortHash(repository.held_commit)}`}
            run={() => api.acceptCommit(repository.name)}
            done={reload}
          />
        </p>
      )}
      <ul class="issues">
        {repository.issues.map((issue) => (
          <li key={`${issue.file}${issue.line ?? ""}${issue.message}`}>
            <strong>{issue.severity}</strong>{" "}
            {visible(`${issue.file}${issue.line === null ? "" : `:${issue.line}`}: ${issue.message}`)}
          </li>
        ))}
      </ul>
    </article>
  );
}
