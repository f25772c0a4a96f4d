/** One job: how it stands, why, and what can be done. */
import { useState } from "preact/hooks";
import type { JobDetailJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Action, Badge, Facts, Name, Problem } from "../components.tsx";
import { shortHash, visible } from "../format.ts";
import { useResource } from "../resource.ts";
import { DeploymentList } from "./deployments.tsx";
import { Diff } from "./diff.tsx";

export function Job({ namespace, job }: { readonly namespace: string; readonly job: string }) {
  const key = `${namespace}/${job}`;
  const { data, error, reload } = useResource(() => api.job(namespace, job), key);
  return (
    <>
      <h2>
        <Name text={key} />
      </h2>
      <Problem error={error} />
      {data === undefined ? null : <JobBody data={data} reload={reload} />}
      <Gates namespace={namespace} job={job} />
    </>
  );
}

function JobBody({ data, reload }: { readonly data: JobDetailJson; readonly reload: () => void }) {
  return (
    <>
      <p>
        <Badge state={data.sync} /> {visible(data.message)}
      </p>
      <Facts
        rows={[
          ["Policy", data.policy],
          ["File", data.file === null ? "–" : visible(`${data.file} (${data.repository ?? ""})`)],
          ["Commit", data.commit === null ? "–" : <code title={data.commit}>{shortHash(data.commit)}</code>],
          ["Spec hash", data.spec_hash === null ? "–" : <code title={data.spec_hash}>{shortHash(data.spec_hash)}</code>],
          ["Health", visible(data.health ?? "–")],
          [
            "Window",
            data.window === null
              ? "–"
              : `${data.window.open ? "open" : "closed"}${data.window.changes_at === null ? "" : ` until ${data.window.changes_at}`} (${data.window.time_zone})`,
          ],
        ]}
      />
      {data.issues.length === 0 ? null : (
        <ul class="issues">
          {data.issues.map((issue) => (
            <li key={issue.key + issue.message}>
              <strong>{issue.severity}</strong> {visible(`${issue.key}: ${issue.message}`)}
            </li>
          ))}
        </ul>
      )}
      <JobActions data={data} reload={reload} />
      <section>
        <h3>Difference</h3>
        <Diff diff={data.diff} />
      </section>
      <section>
        <h3>Deployments</h3>
        <DeploymentList rows={data.deployments} />
      </section>
    </>
  );
}

function JobActions({ data, reload }: { readonly data: JobDetailJson; readonly reload: () => void }) {
  const [reason, setReason] = useState("");
  const { namespace, job, hold, spec_hash: specHash } = data;
  return (
    <p class="toolbar">
      {data.sync === "paused" ? (
        <Action label="Resume" run={() => api.resume(namespace, job)} done={reload} />
      ) : (
        <>
          <input
            aria-label="Reason of the pause"
            placeholder="why"
            maxLength={500}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <Action label="Pause" disabled={reason.trim() === ""} run={() => api.pause(namespace, job, reason)} done={reload} />
        </>
      )}
      {hold?.kind === "window" && specHash !== null ? (
        <Action
          label="Deploy now"
          confirm="Deploy outside of the window"
          run={() => api.deployNow(namespace, job, specHash)}
          done={reload}
        />
      ) : null}
    </p>
  );
}

function Gates({ namespace, job }: { readonly namespace: string; readonly job: string }) {
  const { data } = useResource(() => api.explain(namespace, job), `explain ${namespace}/${job}`);
  if (data === undefined) return null;
  return (
    <section>
      <h3>Why</h3>
      <p>{visible(data.summary)}</p>
      <table class="gates">
        <thead>
          <tr>
            <th scope="col">Gate</th>
            <th scope="col">Result</th>
            <th scope="col">Fact</th>
            <th scope="col">Source</th>
            <th scope="col">May change</th>
          </tr>
        </thead>
        <tbody>
          {data.gates.map((gate) => (
            <tr key={gate.gate}>
              <th scope="row">{visible(gate.gate)}</th>
              <td>
                <Badge state={gate.result} />
              </td>
              <td>{visible(gate.fact)}</td>
              <td class="quiet">{visible(gate.source)}</td>
              <td class="quiet">{visible(gate.may_change ?? "–")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
